"""tf.nn's convolutions and their gradients over arrays, with TensorFlow's names, positional order and defaults.

``padding`` is "SAME", "VALID" or a list of (before, after) pairs, one a dimension in data_format order; in 3-D too,
which is ours. ``out``, ours as well, is an array for the result: NumPy's, or one on the GPU of the operands.
"""

from __future__ import annotations

import math
from typing import Any

from ._arrays import FORMATS, Array, Integers, all_dimensions
from ._core import conv as _conv
from .errors import refusal

__all__ = [
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_backprop_filter",
    "conv3d_backprop_filter_v2",
    "conv3d_transpose",
    "conv_transpose",
]

_FORWARD = {2: "Conv2D", 3: "Conv3D"}
_INPUT_GRADIENTS = {1: "Conv1DBackpropInput", 2: "Conv2DBackpropInput", 3: "Conv3DBackpropInputV2"}


def _folded(input: Array, rank: int) -> tuple[Array, tuple[int, ...]]:
    """The input with one batch dimension, and the batch dimensions that it had when they were more."""
    shape = getattr(input, "shape", ())
    batch = tuple(shape[: -rank - 1]) if isinstance(shape, tuple) or hasattr(shape, "as_list") else ()
    if len(batch) <= 1:
        return input, ()
    flat = (math.prod(batch), *shape[-rank - 1 :])
    if hasattr(input, "reshape"):
        return input.reshape(flat), batch
    import numpy as np  # not above: it takes ten times as long to import as this package

    return np.asarray(input).reshape(flat), batch


def _folded_out(out: Array, batch: tuple[int, ...], rank: int) -> Array:
    """The same memory with one batch dimension."""
    if not hasattr(out, "shape"):
        return out  # to be refused
    flat, dimensions = _folded(out, rank)
    if dimensions != batch:
        raise refusal("out", f"shape {tuple(out.shape)}", f"the batch dimensions {batch} of the input")
    if math.prod(out.shape) and _address(flat) != _address(out):
        raise refusal("out", "batch dimensions that memory does not hold as one", "an array whose batches lie in a row")
    return flat


def _address(array: Array) -> Any:
    for interface in ("__array_interface__", "__cuda_array_interface__"):
        if hasattr(array, interface):
            return getattr(array, interface)["data"][0]
    return None


def _forward(
    rank: int, tensors: tuple[Array, Array], window: tuple[Any, ...], data_format: str | None, out: Array
) -> Array:
    input, filters = tensors
    strides, padding, dilations = window
    steps = all_dimensions("strides", strides, rank, data_format)
    holes = all_dimensions("dilations", dilations, rank, data_format)
    images, batch = _folded(input, rank)
    if not batch:
        return _conv(_FORWARD[rank], input, filters, None, steps, padding, None, data_format, holes, out)
    flat = None if out is None else _folded_out(out, batch, rank)
    result = _conv(_FORWARD[rank], images, filters, None, steps, padding, None, data_format, holes, flat)
    return result.reshape((*batch, *result.shape[1:])) if out is None else out


def _one_of(filter: Array | None, filters: Array | None) -> Array:
    if filter is not None and filters is not None:
        raise refusal("filters", "both filter and filters", "one of these names of one argument")
    return filters if filter is None else filter


def conv2d(
    input: Array,
    filters: Array,
    strides: Integers | int,
    padding: str | Integers,
    data_format: str | None = "NHWC",
    dilations: Integers | int | None = None,
    name: str | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Convolves images [batch..., height, width, channels] with filters [height, width, in / groups, out]."""
    return _forward(2, (input, filters), (strides, padding, dilations), data_format, out)


def conv3d(
    input: Array,
    filters: Array,
    strides: Integers | int,
    padding: str | Integers,
    data_format: str | None = "NDHWC",
    dilations: Integers | int | None = None,
    name: str | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Convolves volumes [batch..., depth, height, width, channels] with filters [d, h, w, in / groups, out]."""
    steps = [] if strides is None else strides  # unlike conv2d, TensorFlow's conv3d has no default
    return _forward(3, (input, filters), (steps, padding, dilations), data_format, out)


def conv2d_backprop_filter(
    input: Array,
    filter_sizes: Integers,
    out_backprop: Array,
    strides: Integers,
    padding: str | Integers,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Integers = [1, 1, 1, 1],
    name: str | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """The gradient of conv2d with respect to its filters."""
    return _conv(
        "Conv2DBackpropFilter", input, out_backprop, filter_sizes, strides, padding, None, data_format, dilations, out
    )


def conv2d_backprop_input(
    input_sizes: Integers,
    filter: Array | None = None,
    out_backprop: Array | None = None,
    strides: Integers | None = None,
    padding: str | Integers | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Integers = [1, 1, 1, 1],
    name: str | None = None,
    filters: Array | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """The gradient of conv2d with respect to its input; ``filters`` is another name of ``filter``."""
    weights = _one_of(filter, filters)
    return _conv(
        "Conv2DBackpropInput", weights, out_backprop, input_sizes, strides, padding, None, data_format, dilations, out
    )


def conv3d_backprop_filter_v2(
    input: Array,
    filter_sizes: Integers,
    out_backprop: Array,
    strides: Integers,
    padding: str | Integers,
    data_format: str | None = "NDHWC",
    dilations: Integers = [1, 1, 1, 1, 1],
    name: str | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """The gradient of conv3d with respect to its filters."""
    return _conv(
        "Conv3DBackpropFilterV2", input, out_backprop, filter_sizes, strides, padding, None, data_format, dilations, out
    )


conv3d_backprop_filter = conv3d_backprop_filter_v2


def _entries(sizes: Integers, argument: str) -> int:
    try:
        return len(sizes)
    except TypeError:
        raise refusal(argument, f"an object of type {type(sizes).__name__}", "a list of integers") from None


def _transpose(
    rank: int, tensors: tuple[Array, Array, Integers], window: tuple[Any, ...], data_format: str | None, out: Array
) -> Array:
    input, filters, output_shape = tensors
    strides, padding, dilations = window
    steps = all_dimensions("strides", strides, rank, data_format)
    holes = all_dimensions("dilations", dilations, rank, data_format)
    op = _INPUT_GRADIENTS[rank]
    return _conv(op, filters, input, output_shape, steps, padding, None, data_format, holes, out)


def conv2d_transpose(
    input: Array,
    filters: Array,
    output_shape: Integers,
    strides: Integers | int,
    padding: str | Integers = "SAME",
    data_format: str | None = "NHWC",
    dilations: Integers | int | None = None,
    name: str | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """The gradient of conv2d with respect to its input, as a layer; filters are [height, width, out, in]."""
    return _transpose(2, (input, filters, output_shape), (strides, padding, dilations), data_format, out)


def conv3d_transpose(
    input: Array,
    filters: Array,
    output_shape: Integers,
    strides: Integers | int,
    padding: str | Integers = "SAME",
    data_format: str | None = "NDHWC",
    dilations: Integers | int | None = None,
    name: str | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """The gradient of conv3d with respect to its input, as a layer; filters are [depth, height, width, out, in]."""
    return _transpose(3, (input, filters, output_shape), (strides, padding, dilations), data_format, out)


def conv_transpose(
    input: Array,
    filters: Array,
    output_shape: Integers,
    strides: Integers | int,
    padding: str | Integers = "SAME",
    data_format: str | None = None,
    dilations: Integers | int | None = None,
    name: str | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """The transposed convolution of one, two or three spatial dimensions, by the length of output_shape."""
    rank = _entries(output_shape, "output_shape") - 2
    if rank not in FORMATS:
        raise refusal("output_shape", f"{rank + 2} entries", "3, 4 or 5", "size-vector-length")
    tensors = (input, filters, output_shape)
    layout = FORMATS[rank] if data_format is None else data_format
    return _transpose(rank, tensors, (strides, padding, dilations), layout, out)

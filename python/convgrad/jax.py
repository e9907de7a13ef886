"""Convolutions and their gradients inside JAX, computed by convgrad on the CPU, or on an NVIDIA GPU where JAX's arrays
lie there (this part has not run on a GPU yet).

    from convgrad.jax import conv
    y = conv(x, w, strides=2, padding="SAME", dilations=1, data_format="NDHWC")

Works under jit, grad, jvp, vmap and shard_map, to any order: each op's derivatives are the two others.

- Ranks 1 to 3 by the dimensions of the tensors; float16, bfloat16, float32 and float64 (with jax_enable_x64); both
  layouts. Filters are [spatial..., in, out] in both; groups = input channels / filter input channels.
- strides and dilations: one number, one a spatial dimension, or one a dimension in data_format order.
- padding: "SAME", "VALID", or pairs (before, after): one a spatial dimension, or one a dimension.
- What the library refuses is raised as convgrad.errors, where shapes are known: when the function is traced.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Union

import jax
import jax.numpy as jnp
import numpy as np

from convgrad._jax_library import Call, Sizes, integers, refuse_type, text
from convgrad._jax_primitives import FILTER, INPUT, OP_NAMES, OPERANDS, OUTPUT, compute, shape_of

__all__ = [
    "conv",
    "conv1d",
    "conv1d_backprop_filter",
    "conv1d_backprop_input",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv3d",
    "conv3d_backprop_filter_v2",
    "conv3d_backprop_input_v2",
    "conv_filter_gradient",
    "conv_input_gradient",
]

Numbers = Union[int, Sequence[int]]
Padding = Union[str, Sequence[Sequence[int]]]

_CHANNELS_LAST = ("NWC", "NHWC", "NDHWC")


def _around(spatial: Sequence[Any], others: Any, data_format: str) -> tuple[Any, ...]:
    """Entries for batch and channels added where data_format has them."""
    return (others, others, *spatial) if data_format[1:2] == "C" else (others, *spatial, others)


def _by_dimension(argument: str, given: Any, rank: int, data_format: str) -> tuple[int, ...]:
    numbers = integers(argument, given if np.ndim(given) else [given] * rank)
    return _around(numbers, 1, data_format) if len(numbers) == rank else numbers


def _pad_pairs(padding: Any, rank: int, data_format: str) -> tuple[int, ...]:
    try:
        pairs = [tuple(pair) for pair in padding]
    except TypeError:
        refuse_type("padding", padding, "a name, or pairs of integers")
    if len(pairs) == rank:
        pairs = list(_around(pairs, (0, 0), data_format))
    return integers("padding", itertools.chain.from_iterable(pairs))


def _call(rank: int, strides: Any, padding: Any, dilations: Any, data_format: Any) -> Call:
    layout = _CHANNELS_LAST[rank - 1] if data_format is None else text("data_format", data_format)
    named = isinstance(padding, str)
    return Call(
        rank=rank,
        strides=_by_dimension("strides", strides, rank, layout),
        padding=padding if named else "EXPLICIT",
        explicit_paddings=() if named else _pad_pairs(padding, rank, layout),
        dilations=_by_dimension("dilations", dilations, rank, layout),
        data_format=layout,
    )


def _sizes(argument: str, given: Any) -> Sizes:
    return Sizes(integers(argument, np.ravel(np.asarray(given, object))), np.ndim(given))


def _varying_axes(tensor: jax.Array) -> frozenset[Any]:
    aval: Any = getattr(tensor, "aval", None)
    if hasattr(aval, "mat"):  # JAX 0.10
        return aval.mat.varying
    return getattr(aval, "vma", frozenset())


def _cast_varying(tensor: jax.Array, axes: tuple[Any, ...]) -> jax.Array:
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(tensor, axes, to="varying")
    return jax.lax.pvary(tensor, axes)  # before JAX 0.9


def _vary_alike(tensors: list[jax.Array]) -> list[jax.Array]:
    """Inside shard_map: what is the same on all devices, taken as varying where its partner varies."""
    varying = [_varying_axes(tensor) for tensor in tensors]
    wanted = frozenset().union(*varying)
    return [_cast_varying(t, tuple(wanted - axes)) if wanted - axes else t for t, axes in zip(tensors, varying)]


def _op(role: str, operands: Sequence[Any], sizes: Sizes, call: Call) -> jax.Array:
    tensors = _vary_alike([jnp.asarray(operand) for operand in operands])
    shape = shape_of(role, tensors, call, sizes)
    return compute(role, dict(zip(OPERANDS[role], tensors)), call, shape)


def _rank(tensor: Any) -> int:
    """Spatial dimensions. Tensors of other ranks go to the nearest op, which refuses them."""
    return min(max(np.ndim(tensor) - 2, 1), 3)


def conv(
    x: Any,
    w: Any,
    strides: Numbers = 1,
    padding: Padding = "VALID",
    dilations: Numbers = 1,
    data_format: str | None = None,
) -> jax.Array:
    """Convolves x with the filter w; 1-D, 2-D or 3-D by x's dimensions. data_format: channels last when left out."""
    return _op(OUTPUT, (x, w), Sizes(), _call(_rank(x), strides, padding, dilations, data_format))


def conv_input_gradient(
    input_sizes: Sequence[int],
    w: Any,
    dy: Any,
    strides: Numbers = 1,
    padding: Padding = "VALID",
    dilations: Numbers = 1,
    data_format: str | None = None,
) -> jax.Array:
    """The gradient of sum(conv(x, w) * dy) by x, of shape input_sizes; also the transposed convolution of dy."""
    call = _call(_rank(dy), strides, padding, dilations, data_format)
    return _op(INPUT, (w, dy), _sizes("input_sizes", input_sizes), call)


def conv_filter_gradient(
    x: Any,
    filter_sizes: Sequence[int],
    dy: Any,
    strides: Numbers = 1,
    padding: Padding = "VALID",
    dilations: Numbers = 1,
    data_format: str | None = None,
) -> jax.Array:
    """The gradient of sum(conv(x, w) * dy) by w, of shape filter_sizes."""
    call = _call(_rank(dy), strides, padding, dilations, data_format)
    return _op(FILTER, (x, dy), _sizes("filter_sizes", filter_sizes), call)


# The same by TensorFlow's names, with its order of arguments.


def _named(role: str, rank: int, op: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    op.__name__ = op.__qualname__ = OP_NAMES[role][rank - 1]
    op.__doc__ = f"As the function of this name in convgrad.nn; see conv. {rank}-D."
    return op


def _forward(rank: int) -> Callable[..., jax.Array]:
    def op(
        input: Any,
        filters: Any,
        strides: Numbers,
        padding: Padding,
        data_format: str | None = None,
        dilations: Numbers = 1,
    ) -> jax.Array:
        return _op(OUTPUT, (input, filters), Sizes(), _call(rank, strides, padding, dilations, data_format))

    return _named(OUTPUT, rank, op)


def _backprop_input(rank: int) -> Callable[..., jax.Array]:
    def op(
        input_sizes: Sequence[int],
        filter: Any,
        out_backprop: Any,
        strides: Numbers,
        padding: Padding,
        data_format: str | None = None,
        dilations: Numbers = 1,
    ) -> jax.Array:
        call = _call(rank, strides, padding, dilations, data_format)
        return _op(INPUT, (filter, out_backprop), _sizes("input_sizes", input_sizes), call)

    return _named(INPUT, rank, op)


def _backprop_filter(rank: int) -> Callable[..., jax.Array]:
    def op(
        input: Any,
        filter_sizes: Sequence[int],
        out_backprop: Any,
        strides: Numbers,
        padding: Padding,
        data_format: str | None = None,
        dilations: Numbers = 1,
    ) -> jax.Array:
        call = _call(rank, strides, padding, dilations, data_format)
        return _op(FILTER, (input, out_backprop), _sizes("filter_sizes", filter_sizes), call)

    return _named(FILTER, rank, op)


conv1d, conv2d, conv3d = map(_forward, (1, 2, 3))
conv1d_backprop_input, conv2d_backprop_input, conv3d_backprop_input_v2 = map(_backprop_input, (1, 2, 3))
conv1d_backprop_filter, conv2d_backprop_filter, conv3d_backprop_filter_v2 = map(_backprop_filter, (1, 2, 3))

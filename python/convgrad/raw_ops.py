"""TensorFlow's raw ops over arrays: keywords only, with the arguments and defaults of tf.raw_ops.

Made from the op table by python/generate/raw_ops.py; a test compares.
"""

from __future__ import annotations

from ._arrays import Array, Integers
from ._core import conv as _conv


def Conv2D(
    *,
    input: Array,
    filter: Array,
    strides: Integers,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    dilations: Integers = [1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Convolves images with a filter."""
    return _conv("Conv2D", input, filter, None, strides, padding, explicit_paddings, data_format, dilations, None)


def Conv2DBackpropFilter(
    *,
    input: Array,
    filter_sizes: Integers,
    out_backprop: Array,
    strides: Integers,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    dilations: Integers = [1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Gradient of Conv2D with respect to the filter."""
    return _conv("Conv2DBackpropFilter", input, out_backprop, filter_sizes, strides, padding, explicit_paddings, data_format, dilations, None)


def Conv2DBackpropInput(
    *,
    input_sizes: Integers,
    filter: Array,
    out_backprop: Array,
    strides: Integers,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    dilations: Integers = [1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Gradient of Conv2D with respect to the input; also the transposed convolution."""
    return _conv("Conv2DBackpropInput", filter, out_backprop, input_sizes, strides, padding, explicit_paddings, data_format, dilations, None)


def Conv3D(
    *,
    input: Array,
    filter: Array,
    strides: Integers,
    padding: str,
    data_format: str = "NDHWC",
    dilations: Integers = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Convolves volumes with a filter."""
    return _conv("Conv3D", input, filter, None, strides, padding, (), data_format, dilations, None)


def Conv3DBackpropFilterV2(
    *,
    input: Array,
    filter_sizes: Integers,
    out_backprop: Array,
    strides: Integers,
    padding: str,
    data_format: str = "NDHWC",
    dilations: Integers = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Gradient of Conv3D with respect to the filter."""
    return _conv("Conv3DBackpropFilterV2", input, out_backprop, filter_sizes, strides, padding, (), data_format, dilations, None)


def Conv3DBackpropInputV2(
    *,
    input_sizes: Integers,
    filter: Array,
    out_backprop: Array,
    strides: Integers,
    padding: str,
    data_format: str = "NDHWC",
    dilations: Integers = [1, 1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Gradient of Conv3D with respect to the input; also the transposed convolution."""
    return _conv("Conv3DBackpropInputV2", filter, out_backprop, input_sizes, strides, padding, (), data_format, dilations, None)

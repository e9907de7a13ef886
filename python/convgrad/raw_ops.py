"""TensorFlow's raw ops over arrays: keywords only, with the arguments and defaults of tf.raw_ops.

Made from the op table by python/generate/raw_ops.py; a test compares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ._arrays import Array, Integers
from ._core import conv as _conv
from ._core import op as _op


def Identity(
    *,
    input: Array,
    name: str | None = None,
) -> Array:
    """Its input."""
    return _op("Identity", [input])[0]


def Shape(
    *,
    input: Array,
    out_type: Any = "int32",
    name: str | None = None,
) -> Array:
    """The sizes of a tensor's dimensions."""
    return _op("Shape", [input], out_type=out_type)[0]


def Reshape(
    *,
    tensor: Array,
    shape: Integers,
    name: str | None = None,
) -> Array:
    """The same elements in the same order, in another shape."""
    return _op("Reshape", [tensor, shape])[0]


def Transpose(
    *,
    x: Array,
    perm: Integers,
    name: str | None = None,
) -> Array:
    """Changes the order of the dimensions."""
    return _op("Transpose", [x, perm])[0]


def InvertPermutation(
    *,
    x: Array,
    name: str | None = None,
) -> Array:
    """The permutation that undoes another."""
    return _op("InvertPermutation", [x])[0]


def Cast(
    *,
    x: Array,
    DstT: Any,
    Truncate: bool = False,
    name: str | None = None,
) -> Array:
    """The elements in another type: rounded to nearest, to integers towards zero."""
    return _op("Cast", [x], DstT=DstT, Truncate=Truncate)[0]


def OnesLike(
    *,
    x: Array,
    name: str | None = None,
) -> Array:
    """A tensor of ones with the shape and type of another."""
    return _op("OnesLike", [x])[0]


def ZerosLike(
    *,
    x: Array,
    name: str | None = None,
) -> Array:
    """A tensor of zeros with the shape and type of another."""
    return _op("ZerosLike", [x])[0]


def Add(
    *,
    x: Array,
    y: Array,
    name: str | None = None,
) -> Array:
    """x + y, element by element."""
    return _op("Add", [x, y])[0]


def AddV2(
    *,
    x: Array,
    y: Array,
    name: str | None = None,
) -> Array:
    """x + y, element by element: Add by its newer name."""
    return _op("AddV2", [x, y])[0]


def AddN(
    *,
    inputs: list[Array],
    name: str | None = None,
) -> Array:
    """The sum of one or more tensors of one shape."""
    return _op("AddN", inputs)[0]


def Sub(
    *,
    x: Array,
    y: Array,
    name: str | None = None,
) -> Array:
    """x - y, element by element."""
    return _op("Sub", [x, y])[0]


def Mul(
    *,
    x: Array,
    y: Array,
    name: str | None = None,
) -> Array:
    """x * y, element by element."""
    return _op("Mul", [x, y])[0]


def Square(
    *,
    x: Array,
    name: str | None = None,
) -> Array:
    """x * x, element by element."""
    return _op("Square", [x])[0]


def Neg(
    *,
    x: Array,
    name: str | None = None,
) -> Array:
    """-x, element by element."""
    return _op("Neg", [x])[0]


def MatMul(
    *,
    a: Array,
    b: Array,
    transpose_a: bool = False,
    transpose_b: bool = False,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Array:
    """The product of two matrices."""
    return _op("MatMul", [a, b], transpose_a=transpose_a, transpose_b=transpose_b, grad_a=grad_a, grad_b=grad_b)[0]


def Sum(
    *,
    input: Array,
    axis: Integers,
    keep_dims: bool = False,
    name: str | None = None,
) -> Array:
    """The sums over some dimensions."""
    return _op("Sum", [input, axis], keep_dims=keep_dims)[0]


def SumGrad(
    *,
    dy: Array,
    input: Array,
    axis: Integers,
    keep_dims: bool = False,
    name: str | None = None,
) -> Array:
    """Gradient of Sum with respect to its input."""
    return _op("SumGrad", [dy, input, axis], keep_dims=keep_dims)[0]


def Mean(
    *,
    input: Array,
    axis: Integers,
    keep_dims: bool = False,
    name: str | None = None,
) -> Array:
    """The means over some dimensions."""
    return _op("Mean", [input, axis], keep_dims=keep_dims)[0]


def MeanGrad(
    *,
    dy: Array,
    input: Array,
    axis: Integers,
    keep_dims: bool = False,
    name: str | None = None,
) -> Array:
    """Gradient of Mean with respect to its input."""
    return _op("MeanGrad", [dy, input, axis], keep_dims=keep_dims)[0]


def L2Loss(
    *,
    t: Array,
    name: str | None = None,
) -> Array:
    """Half the sum of the squares of all elements."""
    return _op("L2Loss", [t])[0]


def SumToShapeOf(
    *,
    x: Array,
    like: Array,
    name: str | None = None,
) -> Array:
    """Sums over what broadcasting would repeat: the gradient of broadcasting."""
    return _op("SumToShapeOf", [x, like])[0]


def BroadcastToShapeOf(
    *,
    x: Array,
    like: Array,
    name: str | None = None,
) -> Array:
    """Repeats a tensor, as broadcasting does, to the shape of another."""
    return _op("BroadcastToShapeOf", [x, like])[0]


def Relu(
    *,
    features: Array,
    name: str | None = None,
) -> Array:
    """max(features, 0), element by element."""
    return _op("Relu", [features])[0]


def ReluGrad(
    *,
    gradients: Array,
    features: Array,
    name: str | None = None,
) -> Array:
    """Gradient of Relu: the gradients where features are above zero."""
    return _op("ReluGrad", [gradients, features])[0]


def Sigmoid(
    *,
    x: Array,
    name: str | None = None,
) -> Array:
    """1 / (1 + exp(-x)), element by element."""
    return _op("Sigmoid", [x])[0]


def BiasAdd(
    *,
    value: Array,
    bias: Array,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """Adds a number to every channel."""
    return _op("BiasAdd", [value, bias], data_format=data_format)[0]


def BiasAddGrad(
    *,
    out_backprop: Array,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """Gradient of BiasAdd with respect to the bias: the sum of every channel."""
    return _op("BiasAddGrad", [out_backprop], data_format=data_format)[0]


def Softmax(
    *,
    logits: Array,
    name: str | None = None,
) -> Array:
    """exp(logits) of every row, divided by their sum."""
    return _op("Softmax", [logits])[0]


def LogSoftmax(
    *,
    logits: Array,
    name: str | None = None,
) -> Array:
    """The logarithm of Softmax, exact where that is tiny."""
    return _op("LogSoftmax", [logits])[0]


class SoftmaxCrossEntropyWithLogitsOutputs(NamedTuple):
    """What SoftmaxCrossEntropyWithLogits gives."""

    loss: Array
    backprop: Array


def SoftmaxCrossEntropyWithLogits(
    *,
    features: Array,
    labels: Array,
    name: str | None = None,
) -> SoftmaxCrossEntropyWithLogitsOutputs:
    """How far softmax(features) is from the labels, and the gradient of that."""
    return SoftmaxCrossEntropyWithLogitsOutputs(*_op("SoftmaxCrossEntropyWithLogits", [features, labels]))


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
    return _conv(
        "Conv2DBackpropFilter",
        input,
        out_backprop,
        filter_sizes,
        strides,
        padding,
        explicit_paddings,
        data_format,
        dilations,
        None,
    )


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
    return _conv(
        "Conv2DBackpropInput",
        filter,
        out_backprop,
        input_sizes,
        strides,
        padding,
        explicit_paddings,
        data_format,
        dilations,
        None,
    )


def Conv2DBackpropFilterV2(
    *,
    input: Array,
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
    """Conv2DBackpropFilter with the filter itself in place of its sizes."""
    return _op(
        "Conv2DBackpropFilterV2",
        [input, filter, out_backprop],
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
    )[0]


def Conv2DBackpropInputV2(
    *,
    input: Array,
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
    """Conv2DBackpropInput with the input itself in place of its sizes."""
    return _op(
        "Conv2DBackpropInputV2",
        [input, filter, out_backprop],
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
    )[0]


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
    return _conv(
        "Conv3DBackpropFilterV2", input, out_backprop, filter_sizes, strides, padding, (), data_format, dilations, None
    )


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
    return _conv(
        "Conv3DBackpropInputV2", filter, out_backprop, input_sizes, strides, padding, (), data_format, dilations, None
    )


def DepthwiseConv2dNative(
    *,
    input: Array,
    filter: Array,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    dilations: Integers = [1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Convolves every channel of an image with filters of its own."""
    return _conv(
        "DepthwiseConv2dNative", input, filter, None, strides, padding, explicit_paddings, data_format, dilations, None
    )


def DepthwiseConv2dNativeBackpropFilter(
    *,
    input: Array,
    filter_sizes: Integers,
    out_backprop: Array,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    dilations: Integers = [1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Gradient of DepthwiseConv2dNative with respect to the filter."""
    return _conv(
        "DepthwiseConv2dNativeBackpropFilter",
        input,
        out_backprop,
        filter_sizes,
        strides,
        padding,
        explicit_paddings,
        data_format,
        dilations,
        None,
    )


def DepthwiseConv2dNativeBackpropInput(
    *,
    input_sizes: Integers,
    filter: Array,
    out_backprop: Array,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    dilations: Integers = [1, 1, 1, 1],
    name: str | None = None,
) -> Array:
    """Gradient of DepthwiseConv2dNative with respect to the input."""
    return _conv(
        "DepthwiseConv2dNativeBackpropInput",
        filter,
        out_backprop,
        input_sizes,
        strides,
        padding,
        explicit_paddings,
        data_format,
        dilations,
        None,
    )


def MaxPool(
    *,
    input: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """The largest element of every window."""
    return _op(
        "MaxPool",
        [input],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def MaxPoolGrad(
    *,
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """Gradient of MaxPool: each goes to the largest element of its window."""
    return _op(
        "MaxPoolGrad",
        [orig_input, orig_output, grad],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def MaxPoolGradGrad(
    *,
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """Second gradient of MaxPool: what stands where each window is largest."""
    return _op(
        "MaxPoolGradGrad",
        [orig_input, orig_output, grad],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def AvgPool(
    *,
    value: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """The mean of every window, padding not counted."""
    return _op(
        "AvgPool",
        [value],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def AvgPoolGrad(
    *,
    orig_input_shape: Array,
    grad: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """Gradient of AvgPool: every element gets its part of its windows' gradients."""
    return _op(
        "AvgPoolGrad",
        [orig_input_shape, grad],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def MaxPool3D(
    *,
    input: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """The largest element of every window."""
    return _op(
        "MaxPool3D",
        [input],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def MaxPool3DGrad(
    *,
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """Gradient of MaxPool3D: each goes to the largest element of its window."""
    return _op(
        "MaxPool3DGrad",
        [orig_input, orig_output, grad],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def MaxPool3DGradGrad(
    *,
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """Second gradient of MaxPool3D: what stands where each window is largest."""
    return _op(
        "MaxPool3DGradGrad",
        [orig_input, orig_output, grad],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def AvgPool3D(
    *,
    input: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """The mean of every window, padding not counted."""
    return _op(
        "AvgPool3D",
        [input],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]


def AvgPool3DGrad(
    *,
    orig_input_shape: Array,
    grad: Array,
    ksize: Integers,
    strides: Integers,
    padding: str,
    explicit_paddings: Integers = [],
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """Gradient of AvgPool3D: every element gets its part of its windows' gradients."""
    return _op(
        "AvgPool3DGrad",
        [orig_input_shape, grad],
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )[0]

"""TensorFlow's own kernels through its raw ops; TF_ENABLE_ONEDNN_OPTS=0 and 1 are two rivals.

Its CPU kernels are channels last: a channels-first user transposes, inside the time. Padding that an op cannot say, or
that keeps TensorFlow from its oneDNN kernels, is added and cut off by hand as a second way.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

from worker import Way, serve

RAW_OPS = {
    ("conv", 2, "forward"): tf.raw_ops.Conv2D,
    ("conv", 2, "input"): tf.raw_ops.Conv2DBackpropInput,
    ("conv", 2, "filter"): tf.raw_ops.Conv2DBackpropFilter,
    ("depthwise", 2, "forward"): tf.raw_ops.DepthwiseConv2dNative,
    ("depthwise", 2, "input"): tf.raw_ops.DepthwiseConv2dNativeBackpropInput,
    ("depthwise", 2, "filter"): tf.raw_ops.DepthwiseConv2dNativeBackpropFilter,
    ("conv", 3, "forward"): tf.raw_ops.Conv3D,
    ("conv", 3, "input"): tf.raw_ops.Conv3DBackpropInputV2,
    ("conv", 3, "filter"): tf.raw_ops.Conv3DBackpropFilterV2,
}


class Session:
    """The tensors of a cell, and the steps around an op that its dtype and layout ask for."""

    def __init__(self, cell, operands):
        self.cell, self.layer = cell, cell.layer
        self.input = tf.constant(cell.to_layout(operands.input))
        self.filter = tf.constant(operands.filter)
        self.out_backprop = tf.constant(cell.to_layout(operands.out_backprop))
        self.dtype = self.filter.dtype
        rank = self.layer.rank
        self.to_last = [0, *range(2, rank + 2), 1]
        self.to_first = [0, rank + 1, *range(1, rank + 1)]

    def image(self, tensor):
        """An operand as the op takes it."""
        tensor = tf.transpose(tensor, self.to_last) if self.cell.first else tensor
        return self.wide(tensor)

    def image_back(self, tensor):
        tensor = self.narrow(tensor)
        return tf.transpose(tensor, self.to_first) if self.cell.first else tensor

    def wide(self, tensor):
        return tf.cast(tensor, tf.float32) if self.cell.cast else tensor

    def narrow(self, tensor):
        return tf.cast(tensor, self.dtype) if self.cell.cast else tensor


class ByHand:
    """Zeros put around the input, and cut off its gradient, outside the op."""

    def __init__(self, layer):
        self.pads = [(0, 0), *layer.pads, (0, 0)]
        self.sizes = [size + sum(pad) for size, pad in zip(layer.in_shape, self.pads)]
        self.layer = layer
        self.arguments = {"padding": "VALID"}

    def around(self, image):
        return tf.pad(image, self.pads)

    def cut(self, image):
        return tf.slice(image, [before for before, _ in self.pads], self.layer.in_shape)


class InOp:
    """Padding that the op is told of."""

    def __init__(self, layer):
        self.sizes = layer.in_shape
        self.arguments = {"padding": padding_name(layer)}
        if self.arguments["padding"] == "EXPLICIT":
            self.arguments["explicit_paddings"] = [0, 0, *(p for pair in layer.pads for p in pair), 0, 0]

    def around(self, image):
        return image

    def cut(self, image):
        return image


def padding_name(layer):
    if not any(before or after for before, after in layer.pads):
        return "VALID"
    return "SAME" if layer.pads == layer.same else "EXPLICIT"


def call_of(session, raw, filter_shape, padding):
    """The cell as a function without arguments."""
    s, layer = session, session.layer
    same = {"strides": [1, *layer.stride, 1], "dilations": [1, *layer.dilation, 1], **padding.arguments}
    kernel = tf.reshape(s.filter, filter_shape)
    if s.cell.op == "forward":
        return lambda: s.image_back(raw(input=padding.around(s.image(s.input)), filter=s.wide(kernel), **same))
    if s.cell.op == "input":
        return lambda: s.image_back(padding.cut(raw(input_sizes=padding.sizes, filter=s.wide(kernel),
                                                    out_backprop=s.image(s.out_backprop), **same)))
    return lambda: s.narrow(raw(input=padding.around(s.image(s.input)), filter_sizes=filter_shape,
                                out_backprop=s.image(s.out_backprop), **same))


class TensorFlow:
    def __init__(self, threads):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.version = f"TensorFlow {tf.__version__}"

    def ways(self, cell, operands):
        layer, session = cell.layer, Session(cell, operands)
        kinds = {"conv": layer.filter_shape}
        if layer.rank == 2 and layer.groups == layer.c_in > 1:
            kinds["depthwise"] = (*layer.filter, layer.c_in, layer.group_c_out)
        explicit = padding_name(layer) == "EXPLICIT"
        for kind, filter_shape in kinds.items():
            raw = RAW_OPS[kind, layer.rank, cell.op]
            if layer.rank == 2 or not explicit:
                yield Way(raw.__name__, call_of(session, raw, filter_shape, InOp(layer)), self.reader(cell))
            if explicit:
                yield Way(f"{raw.__name__}, padded by hand", call_of(session, raw, filter_shape, ByHand(layer)),
                          self.reader(cell))

    @staticmethod
    def reader(cell):
        if cell.op == "filter":
            return lambda result: result.numpy().reshape(cell.layer.filter_shape)
        return lambda result: cell.from_layout(result.numpy())


if __name__ == "__main__":
    serve(TensorFlow)

"""The ways by which a TensorFlow program reaches a convolution or its gradients, each answering with named tensors."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf
from oracle import Case, Exact


def attributes(case: Case) -> dict:
    stated = {
        "strides": case.per_dimension(case.stride),
        "dilations": case.per_dimension(case.dilation),
        "padding": case.padding,
        "data_format": case.data_format,
    }
    if case.padding == "EXPLICIT":
        stated["explicit_paddings"] = case.explicit_paddings()
    return stated


def names(case: Case) -> dict[str, str]:
    """Of the raw ops, by result."""
    if case.multiplier:
        stem, v2 = "DepthwiseConv2dNative", ""
    else:
        stem, v2 = f"Conv{case.rank}D", "V2" if case.rank == 3 else ""
    return {"y": stem, "dw": f"{stem}BackpropFilter{v2}", "dx": f"{stem}BackpropInput{v2}"}


def raw(case: Case, result: str) -> Callable:
    return getattr(tf.raw_ops, names(case)[result])


def raw_forward(case: Case, data: Exact) -> dict:
    x, w, _ = tensors(case, data)
    return {"y": raw(case, "y")(input=x, filter=w, **attributes(case))}


def raw_filter(case: Case, data: Exact) -> dict:
    x, _, dy = tensors(case, data)
    return {"dw": raw(case, "dw")(input=x, filter_sizes=data.w.shape, out_backprop=dy, **attributes(case))}


def raw_input(case: Case, data: Exact) -> dict:
    _, w, dy = tensors(case, data)
    return {"dx": raw(case, "dx")(input_sizes=data.x.shape, filter=w, out_backprop=dy, **attributes(case))}


def tape(case: Case, data: Exact) -> dict:
    x, w, dy = tensors(case, data)
    convolve = tf.nn.conv2d if case.rank == 2 else tf.nn.conv3d
    with tf.GradientTape() as recorded:
        recorded.watch([x, w])
        y = convolve(
            x,
            w,
            case.per_dimension(case.stride),
            case.padding,
            case.data_format,
            dilations=case.per_dimension(case.dilation),
        )
        loss = tf.reduce_sum(y * dy)
    dx, dw = recorded.gradient(loss, [x, w])
    return {"y": y, "dx": dx, "dw": dw}


def tensors(case: Case, data: Exact) -> tuple[tf.Tensor, ...]:
    return tuple(tf.cast(array, case.dtype) for array in (data.x, data.w, data.dy))


def in_function(route: Callable) -> Callable:
    """The route in a graph, over arguments that no optimizer can fold."""

    def run(case: Case, data: Exact) -> dict:
        x, w, dy = tensors(case, data)

        @tf.function(autograph=False)
        def graph(x: tf.Tensor, w: tf.Tensor, dy: tf.Tensor) -> dict:
            return route(case, Exact(x, w, dy, None, None, None))

        return graph(x, w, dy)

    return run


MATRIX = {
    "filter eager": raw_filter,
    "filter function": in_function(raw_filter),
    "input eager": raw_input,
    "tape eager": tape,
    "tape function": in_function(tape),
}
EAGER = {"forward eager": raw_forward, "filter eager": raw_filter, "input eager": raw_input}

"""Calls that no kernel can answer, eager and in a graph; the process must live to print what each gave."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import convgrad.tensorflow

RAW = tf.raw_ops
IMAGE, FILTER = np.ones((1, 4, 4, 2), np.float32), np.ones((3, 3, 2, 2), np.float32)
VOLUME, BLOCK = np.ones((1, 4, 4, 4, 2), np.float32), np.ones((3, 3, 3, 2, 2), np.float32)
FLAT = {"strides": [1, 1, 1, 1], "padding": "SAME"}
DEEP = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
HUGE = 2**31 - 1


def filter_2d(sizes: Any, dy: np.ndarray = IMAGE, x: np.ndarray = IMAGE, **more: Any) -> Callable:
    return lambda: RAW.Conv2DBackpropFilter(input=x, filter_sizes=sizes, out_backprop=dy, **{**FLAT, **more})


def input_2d(sizes: Any, dy: np.ndarray = IMAGE, w: np.ndarray = FILTER, **more: Any) -> Callable:
    return lambda: RAW.Conv2DBackpropInput(input_sizes=sizes, filter=w, out_backprop=dy, **{**FLAT, **more})


def filter_3d(sizes: Any, dy: np.ndarray = VOLUME, **more: Any) -> Callable:
    return lambda: RAW.Conv3DBackpropFilterV2(input=VOLUME, filter_sizes=sizes, out_backprop=dy, **{**DEEP, **more})


def input_3d(sizes: Any, dy: np.ndarray = VOLUME, **more: Any) -> Callable:
    return lambda: RAW.Conv3DBackpropInputV2(input_sizes=sizes, filter=BLOCK, out_backprop=dy, **{**DEEP, **more})


def depthwise_filter(sizes: Any) -> Callable:
    return lambda: RAW.DepthwiseConv2dNativeBackpropFilter(input=IMAGE, filter_sizes=sizes, out_backprop=IMAGE, **FLAT)


REFUSED = {
    "negative filter size": filter_2d([3, 3, 2, -1]),
    "negative input size": input_2d([1, -4, 4, 2]),
    "negative volume size": input_3d([1, 4, -4, 4, 2]),
    "negative int64 size": input_3d(np.array([1, 4, 4, 4, -2], np.int64)),
    "huge filter": filter_2d([HUGE, HUGE, HUGE, HUGE]),
    "huge input": input_2d([HUGE, HUGE, HUGE, HUGE]),
    "huge volume": input_3d([HUGE] * 5),
    "huge int64 volume": input_3d(np.array([2**62] * 5, np.int64)),
    "sizes as a matrix": filter_2d([[3, 3], [2, 2]]),
    "sizes as a number": filter_2d(3),
    "no sizes": filter_3d(np.zeros(0, np.int32)),
    "zero channels": filter_2d([3, 3, 0, 2]),
    "three sizes": filter_2d([3, 3, 2]),
    "gradient of another size": filter_2d([3, 3, 2, 2], dy=np.ones((1, 9, 9, 2), np.float32)),
    "gradient of another batch": filter_2d([3, 3, 2, 2], dy=np.ones((7, 4, 4, 2), np.float32)),
    "gradient of rank 3": filter_2d([3, 3, 2, 2], dy=np.ones((4, 4, 2), np.float32)),
    "stride 0": filter_2d([3, 3, 2, 2], strides=[1, 0, 1, 1]),
    "stride -1": input_2d([1, 4, 4, 2], strides=[1, -1, 1, 1]),
    "stride over the batch": input_3d([1, 4, 4, 4, 2], strides=[2, 1, 1, 1, 1]),
    "two strides": filter_2d([3, 3, 2, 2], strides=[1, 1]),
    "dilation 0": filter_2d([3, 3, 2, 2], dilations=[1, 0, 1, 1]),
    "dilation -1": input_2d([1, 4, 4, 2], dilations=[1, -1, 1, 1]),
    "paddings of odd length": filter_2d([3, 3, 2, 2], padding="EXPLICIT", explicit_paddings=[0, 0, 1]),
    "padding -5": filter_2d([3, 3, 2, 2], padding="EXPLICIT", explicit_paddings=[0, 0, -5, 1, 1, 1, 0, 0]),
    "forward of rank 3": lambda: RAW.Conv2D(input=IMAGE[0], filter=FILTER, **FLAT),
    "forward of 3 channels": lambda: RAW.Conv2D(input=np.ones((1, 4, 4, 3), np.float32), filter=FILTER, **FLAT),
    "depthwise of fewer channels": depthwise_filter([3, 3, 1, 2]),
    "depthwise of huge multiplier": depthwise_filter([HUGE, HUGE, 2, HUGE]),
    "depthwise of negative size": depthwise_filter([3, -3, 2, 1]),
}
EMPTY = np.zeros((0, 4, 4, 2), np.float32)
ANSWERED = {
    "filter gradient of an empty batch": (filter_2d([3, 3, 2, 2], dy=EMPTY, x=EMPTY), (3, 3, 2, 2)),
    "input gradient of an empty batch": (input_2d([0, 4, 4, 2], dy=EMPTY), (0, 4, 4, 2)),
    "forward of an empty batch": (lambda: RAW.Conv2D(input=EMPTY, filter=FILTER, **FLAT), (0, 4, 4, 2)),
}


def outcome(call: Callable) -> str:
    try:
        return str(tuple(call().shape))
    except tf.errors.OpError as refused:
        return type(refused).__name__
    except ValueError:
        return "ValueError"  # of the shape function, while a graph is built


if __name__ == "__main__":
    convgrad.tensorflow.install(onednn=True)
    # Of a graph with a stride or filter of 0 TensorFlow's optimizer estimates the cost, divides by zero and ends the
    # process before there is a kernel to refuse it.
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    found = {"eager": {}, "graph": {}, "answered": {}}
    for name, call in REFUSED.items():
        found["eager"][name] = outcome(call)
        found["graph"][name] = outcome(tf.function(call, autograph=False))
    for name, (call, shape) in ANSWERED.items():
        zeros = call().numpy()
        found["answered"][name] = zeros.shape == shape and not zeros.any()
    print(json.dumps(found))

"""relu(conv(x, w) + bias) in a tf.function, which TensorFlow may fuse into one op of its own.

fused.py left|off: remapping as TensorFlow has it, or install(remapping=False).
"""

import itertools
import json
import sys
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from oracle import Case, exact
from routes import tensors

import convgrad.tensorflow

CASES = [
    Case(rank=rank, first=first, dilation=dilation, groups=groups, dtype=dtype)
    for rank, first, dilation, groups, dtype in itertools.product(
        (2, 3), (False, True), (1, 2), (1, 2), ("float32", "float64")
    )
]


def layer(case: Case) -> Callable:
    convolve = tf.nn.conv2d if case.rank == 2 else tf.nn.conv3d
    strides, dilations = case.per_dimension(1), case.per_dimension(case.dilation)

    @tf.function(autograph=False)
    def apply(x: tf.Tensor, w: tf.Tensor, bias: tf.Tensor) -> tf.Tensor:
        y = convolve(x, w, strides, case.padding, case.data_format, dilations=dilations)
        return tf.nn.relu(tf.nn.bias_add(y, bias, case.data_format))

    return apply


def row(case: Case) -> dict:
    data = exact(case)
    x, w, _ = tensors(case, data)
    bias = np.arange(-3.0, 3.0)
    wanted = np.maximum(data.y + bias.reshape(-1, *[1] * case.rank) if case.first else data.y + bias, 0)
    try:
        got = layer(case)(x, w, tf.constant(bias, case.dtype)).numpy()
    except tf.errors.OpError as refused:
        return {"row": str(case), "groups": case.groups, "exact": False, "error": str(refused)[:120]}
    return {"row": str(case), "groups": case.groups, "exact": bool(np.array_equal(got, wanted)), "error": ""}


if __name__ == "__main__":
    convgrad.tensorflow.install(onednn=True, remapping=False if sys.argv[1] == "off" else None)
    print(json.dumps([row(case) for case in CASES]))

#!/usr/bin/env python3
"""A volume network in channels-first layout, dilated and grouped, trained on CPU inside TensorFlow.

    pip install convgrad tensorflow
    python examples/python/tensorflow_channels_first.py

TensorFlow's own CPU kernels refuse every layer of it. After convgrad.tensorflow.install() the same code trains: a first
convolution, a dilated one in four groups and a head with stride, in float64, learn to tell volumes with a bright ball
from volumes with a bright cube. Ends with an error unless the loss falls to half.
"""

import sys
import time
import warnings

import numpy as np
import tensorflow as tf

import convgrad.tensorflow

SIZE, CLASSES = 16, 2


def volumes(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise with a ball (label 0) or a cube (label 1) of the same reach, as [count, 1, depth, height, width]."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, count)
    at = np.indices((SIZE, SIZE, SIZE))
    found = rng.normal(0, 0.3, (count, 1, SIZE, SIZE, SIZE))
    for image, label in zip(found, labels, strict=True):
        offset = np.abs(at - rng.integers(6, SIZE - 6, (3, 1, 1, 1)))
        inside = (offset**2).sum(0) <= 25 if label == 0 else offset.max(0) <= 5
        image[0] += inside
    return found, labels


class Network(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        draw = tf.random.Generator.from_seed(7)
        shapes = [(3, 3, 3, 1, 8), (3, 3, 3, 2, 16), (3, 3, 3, 16, 16), (16, CLASSES)]
        self.weights = [tf.Variable(draw.normal(s, stddev=np.prod(s[:-1]) ** -0.5, dtype=tf.float64)) for s in shapes]

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        first, grouped, head, dense = self.weights
        x = tf.nn.relu(convolve(x, first))
        x = tf.nn.relu(convolve(x, grouped, dilation=2))  # 8 channels in, filters of 2: four groups
        x = tf.nn.relu(convolve(x, head, stride=2))
        return tf.reduce_max(x, [2, 3, 4]) @ dense


def convolve(x: tf.Tensor, filters: tf.Variable, stride: int = 1, dilation: int = 1) -> tf.Tensor:
    return tf.nn.conv3d(x, filters, [1, 1, *[stride] * 3], "SAME", "NCDHW", [1, 1, *[dilation] * 3])


def loss_of(network: Network, x: np.ndarray, labels: np.ndarray) -> tf.Tensor:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network(x)))


def train(network: Network, steps: int) -> list[float]:
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def step(x: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = loss_of(network, x, labels)
        optimizer.apply_gradients(zip(tape.gradient(loss, network.weights), network.weights))
        return loss

    losses = []
    for number in range(steps):
        x, labels = volumes(8, seed=number)
        start = time.perf_counter()
        losses.append(float(step(x, labels)))
        if number % 10 == 9:
            print(f"step {number + 1:3}: loss {losses[-1]:.3f}, {1e3 * (time.perf_counter() - start):.0f} ms a step")
    return losses


def main() -> int:
    x, labels = volumes(8, seed=0)
    try:
        loss_of(Network(), x, labels)
        print("TensorFlow alone: computes it")
    except tf.errors.OpError as refused:
        print(f"TensorFlow alone: {refused.message.split('}} ')[-1].splitlines()[0]}")
    warnings.simplefilter("ignore", RuntimeWarning)  # of an op that ran before: it was refused, nothing of it is kept
    # The optimizer would fuse convolutions with what follows them into ops that refuse groups.
    print(f"convgrad: {convgrad.tensorflow.install(remapping=False)} kernels registered")
    start = time.perf_counter()
    losses = train(Network(), steps=60)
    print(f"trained in {time.perf_counter() - start:.1f} s")
    for op, types in convgrad.tensorflow.stats().items():
        for dtype, calls in types.items():
            if calls:
                print(f"  {op} {dtype}: {calls} calls")
    return 0 if np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10]) else 1


if __name__ == "__main__":
    sys.exit(main())

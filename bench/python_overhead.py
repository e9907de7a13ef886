#!/usr/bin/env python3
"""What a call from Python costs beside its arithmetic: input 1x4x4x1, filter 3x3x1x1, SAME, f32 (100 multiply-adds),
the filter gradient. Prints microseconds a call for convgrad and for every framework that is installed, in turns in one
process: the least and the median of the rounds.

    PYTHONPATH=build/release/python build/peers/bin/python bench/python_overhead.py
"""
from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import time

import numpy as np

import convgrad

X = np.ones((1, 4, 4, 1), np.float32)
WANTED = [9, 12, 9, 12, 16, 12, 9, 12, 9]


def convgrad_ways():
    raw, nn = convgrad.raw_ops.Conv2DBackpropFilter, convgrad.nn.conv2d_backprop_filter
    plan, out = convgrad.Plan("n1c1h4w4_k1r3s3_same_f32_filter_grad"), np.empty((3, 3, 1, 1), np.float32)
    yield "convgrad.raw_ops", lambda: raw(
        input=X, filter_sizes=[3, 3, 1, 1], out_backprop=X, strides=[1, 1, 1, 1], padding="SAME")
    yield "convgrad.nn", lambda: nn(X, [3, 3, 1, 1], X, [1, 1, 1, 1], "SAME")
    yield "convgrad.Plan", lambda: plan(X, X)
    yield "convgrad.Plan, out=", lambda: plan(X, X, out)


def torch_ways():
    import torch

    torch.set_num_threads(1)
    x, w = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3)
    backward, grad = torch.ops.aten.convolution_backward, torch.nn.grad.conv2d_weight
    yield "torch.nn.grad.conv2d_weight", lambda: grad(x, (1, 1, 3, 3), x, padding=1)
    yield "aten::convolution_backward", lambda: backward(
        x, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False])[1]


def jax_ways():
    import jax

    def forward(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    x, w = jax.numpy.asarray(X), jax.numpy.ones((3, 3, 1, 1))
    gradient = jax.jit(lambda x, dy: jax.vjp(lambda w: forward(x, w), w)[1](dy)[0])
    yield "jax.jit", lambda: gradient(x, x).block_until_ready()


def tensorflow_ways():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    x, sizes = tf.constant(X), tf.constant([3, 3, 1, 1])
    raw, nn = tf.raw_ops.Conv2DBackpropFilter, tf.compat.v1.nn.conv2d_backprop_filter
    yield "tf.raw_ops, eager", lambda: raw(
        input=x, filter_sizes=sizes, out_backprop=x, strides=[1, 1, 1, 1], padding="SAME")
    yield "tf.compat.v1.nn, eager", lambda: nn(x, sizes, x, [1, 1, 1, 1], "SAME")


FRAMEWORKS = {"torch": torch_ways, "jax": jax_ways, "tensorflow": tensorflow_ways}


def timed(call, calls):
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=200, help="calls a round")
    options = parser.parse_args()
    ways = dict(convgrad_ways())
    for name, more in FRAMEWORKS.items():
        if importlib.util.find_spec(name):
            ways.update(more())
    for name, call in ways.items():
        assert np.asarray(call()).ravel().tolist() == WANTED, name
    rounds = [{name: timed(call, options.calls) for name, call in ways.items()} for _ in range(options.rounds)]
    print(f"{convgrad.show_config('dicts')['cpu']}, {options.rounds} rounds of {options.calls} calls, microseconds")
    for name in ways:
        times = [row[name] for row in rounds]
        print(f"{name:<30} least {min(times):8.2f}   median {statistics.median(times):8.2f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""convgrad's kernels inside TensorFlow beside its own with oneDNN: the figures of docs/design/006-tensorflow.md.

    build/peers/bin/python bench/tensorflow_plugin.py [--dtype bfloat16] [--threads 1] [--rounds 5] [--match rn50]

Two processes, one with install(onednn=True), run the same tf.function in turns, so that other work on the machine hits
both; the least time of all rounds counts. With one thread it is CPU time, which other work disturbs less.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ["rn50_res2_3x3", "rn50_res4_3x3", "rn50_res2_1x1_expand", "rn50_res4a_1x1s2", "googlenet_v1_5x5",
          "inception_v3_1x7", "alexnet_conv1_11x11s4", "efficientnet_b0_stem_same", "mobilenet_v1_dw3x3",
          "efficientnet_b0_dw5x5", "c3d_conv1", "r2plus1d_spatial", "i3d_stem_7x7x7s2", "highres3dnet_d2"]
DIRECTIONS = ["forward", "filter", "input"]


def family(layer):
    return "depthwise" if layer["groups"] > 1 else f"{len(layer['spatial'])}-D"


def raw_op(layer, direction):
    """The op's name."""
    stems = {"2-D": ("Conv2D", ""), "3-D": ("Conv3D", "V2"), "depthwise": ("DepthwiseConv2dNative", "")}
    stem, v2 = stems[family(layer)]
    return stem + {"forward": "", "filter": "BackpropFilter" + v2, "input": "BackpropInput" + v2}[direction]


def compiled(tf, layer, direction, dtype):
    """Two fresh operands, and a tf.function of one op over them."""
    channels = [layer["Cin"], layer["Cout"] // (layer["Cin"] if family(layer) == "depthwise" else 1)]
    x = tf.random.normal([layer["N"], *layer["spatial"], layer["Cin"]], dtype=tf.float32)
    w = tf.random.normal([*layer["kernel"], *channels], dtype=tf.float32)
    dy = tf.random.normal([layer["N"], *layer["out_spatial"], layer["Cout"]], dtype=tf.float32)
    x, w, dy = (tf.cast(t, dtype) for t in (x, w, dy))
    same = layer["pad"] != "VALID" and any(sum(pair) for pair in layer["pad_resolved"])
    attributes = {"strides": [1, *layer["stride"], 1], "dilations": [1, *layer["dilation"], 1],
                  "padding": "SAME" if same else "VALID"}
    op = getattr(tf.raw_ops, raw_op(layer, direction))
    if direction == "forward":
        return (x, w), tf.function(lambda a, b: op(input=a, filter=b, **attributes))
    if direction == "filter":
        return (x, dy), tf.function(lambda a, b: op(input=a, filter_sizes=w.shape, out_backprop=b, **attributes))
    return (w, dy), tf.function(lambda a, b: op(input_sizes=x.shape, filter=a, out_backprop=b, **attributes))


def work(kind, threads, dtype):
    """Answers lines of JSON: times of one layer and direction in microseconds."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    if kind == "convgrad":
        sys.path.insert(0, str(ROOT / "build/release/python"))
        import convgrad.tensorflow as plugin

        plugin.install(onednn=True)
    print("ready", flush=True)
    clock = time.process_time if threads == 1 else time.perf_counter
    made = {}
    for line in sys.stdin:
        layer, direction, seconds = json.loads(line)
        key = (layer["name"], direction)
        try:
            if key not in made:
                made.clear()
                made[key] = operands_and_function(tf, layer, direction, dtype)
            print(json.dumps(least_time(made[key], seconds, clock)), flush=True)
        except tf.errors.OpError as refused:
            print(json.dumps(str(refused)[:80]), flush=True)


def operands_and_function(tf, layer, direction, dtype):
    operands, function = compiled(tf, layer, direction, dtype)
    function(*operands)
    return operands, function


def least_time(made, seconds, clock):
    operands, function = made
    least, start = math.inf, clock()
    while clock() - start < seconds:
        before = clock()
        function(*operands)
        least = min(least, clock() - before)
    return least * 1e6


class Worker:
    def __init__(self, kind, arguments):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", kind, "--threads", str(arguments.threads),
             "--dtype", arguments.dtype],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, layer, direction, seconds):
        self.process.stdin.write(json.dumps([layer, direction, seconds]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", choices=["plain", "convgrad"], help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--match", default="")
    given = parser.parse_args()
    if given.worker:
        return work(given.worker, given.threads, given.dtype)
    layers = {layer["name"]: layer for layer in json.loads((ROOT / "bench/shapes.json").read_text())["shapes"]}
    plain, ours = Worker("plain", given), Worker("convgrad", given)
    ratios = {}
    print(f"{'layer':28}{'direction':10}{'TensorFlow us':>14}{'convgrad us':>13}{'ratio':>7}")
    for name in (name for name in LAYERS if given.match in name):
        for direction in DIRECTIONS:
            pairs = [tuple(worker.ask(layers[name], direction, given.seconds) for worker in (plain, ours))
                     for _ in range(given.rounds)]
            if any(isinstance(time, str) for pair in pairs for time in pair):
                print(f"{name:28}{direction:10}  {pairs[0]}")
                continue
            theirs, mine = (min(times) for times in zip(*pairs))
            ratios.setdefault((family(layers[name]), direction), []).append(theirs / mine)
            print(f"{name:28}{direction:10}{theirs:14.0f}{mine:13.0f}{theirs / mine:7.2f}", flush=True)
    for (kind, direction), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"geometric mean, {kind} {direction}: {mean:.2f} ({len(values)} layers)")


if __name__ == "__main__":
    main()

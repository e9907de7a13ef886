"""Times convgrad.jax beside lax on the CPU, both jitted: a tiny call, and both gradients of layers of shapes.json.

    python bench/jax_plugin.py [layer ...]
"""

import json
import pathlib
import sys
import time

import convgrad.jax
import jax
import jax.numpy as jnp
import numpy as np

LAYERS = ("rn50_res2_3x3", "rn50_res4_3x3", "mobilenet_v1_dw3x3", "resnext50_32x4d_3x3", "highres3dnet_d2", "x3d_dw_108")
SECONDS = 3.0


def spent(function, arguments):
    start = np.array([time.perf_counter(), time.process_time()])
    jax.block_until_ready(function(*arguments))
    return np.array([time.perf_counter(), time.process_time()]) - start


def best(functions, arguments):
    """The least seconds of each, on the clock and of all its threads' CPU time; in turns, so that all see the same
    machine. CPU time counts where others use the machine."""
    least = [np.full(2, np.inf) for _ in functions]
    for function in functions:
        spent(function, arguments)
    end = time.perf_counter() + SECONDS * len(functions)
    while time.perf_counter() < end:
        least = [np.minimum(so_far, spent(function, arguments)) for so_far, function in zip(least, functions)]
    return least


def convolutions(layer):
    spatial = "DHW"[-len(layer["spatial"]) :]
    layout = f"N{spatial}C"

    def by_lax(x, w):
        return jax.lax.conv_general_dilated(
            x,
            w,
            layer["stride"],
            layer["pad_resolved"],
            rhs_dilation=layer["dilation"],
            dimension_numbers=(layout, f"{spatial}IO", layout),
            feature_group_count=layer["groups"],
        )

    def by_convgrad(x, w):
        return convgrad.jax.conv(x, w, layer["stride"], layer["pad_resolved"], layer["dilation"])

    return by_lax, by_convgrad


def tensors(layer):
    rng = np.random.default_rng(1)
    shapes = (
        (layer["N"], *layer["spatial"], layer["Cin"]),
        (*layer["kernel"], layer["Cin"] // layer["groups"], layer["Cout"]),
        (layer["N"], *layer["out_spatial"], layer["Cout"]),
    )
    return [jnp.asarray(rng.standard_normal(shape, np.float32)) for shape in shapes]


def gradients(conv):
    return jax.jit(lambda x, w, dy: jax.vjp(conv, x, w)[1](dy))


def tiny():
    x, w = jnp.ones((1, 4, 4, 1)), jnp.ones((3, 3, 1, 1))
    layer = {"spatial": [4, 4], "stride": [1, 1], "pad_resolved": [[1, 1]] * 2, "dilation": [1, 1], "groups": 1}
    functions = [jax.jit(f) for f in convolutions(layer)] + [jax.jit(lambda x, w: x + 1)]
    for name, seconds in zip(("lax", "convgrad.jax", "x + 1"), best(functions, (x, w))):
        print(f"tiny forward, 1x4x4x1 by 3x3: {name:14} {1e6 * seconds[0]:8.1f} us")


def main():
    tiny()
    shapes = json.loads((pathlib.Path(__file__).parent / "shapes.json").read_text())["shapes"]
    for layer in shapes:
        if layer["name"] not in (sys.argv[1:] or LAYERS):
            continue
        times = best([gradients(conv) for conv in convolutions(layer)], tensors(layer))
        for name, (clock, cpu) in zip(("lax", "convgrad.jax"), times):
            print(f"{layer['name']:24} {name:14} {1e3 * clock:9.1f} ms on the clock {1e3 * cpu:9.1f} ms of CPU time")


if __name__ == "__main__":
    main()

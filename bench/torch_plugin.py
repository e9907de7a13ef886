"""Gradients inside PyTorch, its own kernel beside convgrad's: the measurements behind python/convgrad/_torch_cells.py.

    PYTHONPATH=build/release/python python bench/torch_plugin.py [--dtypes f64,f32] [--layouts first,last] [--match 3d]

One thread; processor time of the process, least of at least three calls of aten::convolution_backward with one
gradient asked for, all that the plug-in does included. --tiny: small layers instead, for the least size of a row.
"""
import argparse
import json
import pathlib
import sys
import time

import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))

import convgrad
import convgrad.torch
from cells import Layer
from convgrad import _torch_cells

DTYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16}
LAST = {2: torch.channels_last, 3: torch.channels_last_3d}
LAYERS = ["rn50_conv1_7x7s2", "rn50_res2_3x3", "rn50_res4_3x3", "rn50_res2_1x1_expand", "mobilenet_v1_dw3x3",
          "convnext_t_dw7x7_stage3", "resnext50_32x4d_3x3", "dcgan_disc_4x4s2", "c3d_conv1", "slowfast_lateral_t5s8",
          "x3d_dw_108", "resnext3d_g16", "vnet_5x5x5", "highres3dnet_d2", "r2plus1d_spatial"]
GRADIENTS = ["input", "filter"]


def tiny_layers():
    """A dense, a grouped and a depthwise layer of each rank, from 10 thousand to a million multiply-adds."""
    for size in (4, 8, 16, 32):
        for name, c, groups in (("dense", 8, 1), ("grouped", 8, 2), ("depthwise", 16, 16)):
            for rank in (2, 3):
                if rank == 3 and size > 16:
                    continue
                yield Layer({"name": f"{name}{rank}d_{size}", "N": 1, "Cin": c, "Cout": c, "groups": groups,
                             "spatial": [size] * rank, "kernel": [3] * rank, "pad": [[1, 1]] * rank})


class Cell:
    def __init__(self, layer, dtype, layout):
        self.layer, self.layout = layer, layout
        torch.manual_seed(0)
        sizes = [(layer.n, layer.c_in, *layer.size), (layer.c_out, layer.group_c_in, *layer.filter),
                 (layer.n, layer.c_out, *layer.out)]
        order = torch.contiguous_format if layout == "first" else LAST[layer.rank]
        self.x, self.w, self.dy = (torch.randn(s).to(DTYPES[dtype]).contiguous(memory_format=order) for s in sizes)

    def gradient(self, name):
        layer = self.layer
        mask = [name == "input", name == "filter", False]
        return torch.ops.aten.convolution_backward(
            self.dy, self.x, self.w, None, layer.stride, [p for p, _ in layer.pads], layer.dilation, False,
            [0] * layer.rank, layer.groups, mask)


def least_ms(call, seconds=0.3):
    """Fewer than three calls only where one takes longer than a second."""
    best, spent, calls = float("inf"), 0.0, 0
    while calls < 4 or spent < seconds:
        start = time.process_time()
        call()
        took = time.process_time() - start
        best, spent, calls = min(best, took), spent + took, calls + 1
        if took > 1:
            break
    return best * 1e3


def measure(cell, name):
    original = least_ms(lambda: cell.gradient(name))
    with convgrad.torch.enabled():
        ours = least_ms(lambda: cell.gradient(name))
    return original, ours


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtypes", default="f64,f32,bf16,f16")
    parser.add_argument("--layouts", default="first,last")
    parser.add_argument("--match", default="")
    parser.add_argument("--tiny", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    _torch_cells.ROWS = [_torch_cells.Row(tuple(DTYPES.values()), least_macs=0)]
    shapes = {shape["name"]: shape for shape in json.loads((HERE / "shapes.json").read_text())["shapes"]}
    layers = list(tiny_layers()) if arguments.tiny else [Layer(shapes[name]) for name in LAYERS]
    print(f"{convgrad._core.config()['cpu']}, PyTorch {torch.__version__}, convgrad {convgrad.__version__}\n")
    print("| layer | dtype | channels | gradient | PyTorch, ms | convgrad, ms | gain |\n|---|---|---|---|---|---|---|")
    for layer in (each for each in layers if arguments.match in each.name):
        for dtype in arguments.dtypes.split(","):
            for layout in arguments.layouts.split(","):
                cell = Cell(layer, dtype, layout)
                for name in GRADIENTS:
                    original, ours = measure(cell, name)
                    print(f"| {layer.name} | {dtype} | {layout} | {name} | {original:.3f} | {ours:.3f} | "
                          f"{original / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()

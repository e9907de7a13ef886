#!/usr/bin/env python3
"""cuDNN through PyTorch, timed as gpu_time.cc times convgrad: bench/gpu_peers.py [--check] < requests.

A request is a line of JSON, {"shape": a shape of gpu_shapes.json, "dtypes": [...], "layouts": [...], "ops": [...]};
each cell is answered by a row, a request by the row {"done": true}. cudnn.benchmark is on: the fastest of cuDNN's
algorithms counts. The dtype "tf32" is f32 with allow_tf32, "f32" is without. Padding that is not the same on both
sides is added and cut off by hand, inside the time. "error" is the largest difference to the same op in f64, over
the largest value.
--check only says whether there is something to time.
"""
import argparse
import json
import statistics
import sys

from gpu_cells import BYTES, Layer

FLUSH_BYTES, WARM_UPS, RUNS = 512 << 20, 3, 15


def obstacle():
    """Why nothing can be timed here; empty: it can."""
    try:
        import torch
    except ImportError as error:
        return f"cuDNN cannot be timed: PyTorch is not there ({error})"
    if not torch.cuda.is_available():
        return "cuDNN cannot be timed: PyTorch sees no GPU"
    if not torch.backends.cudnn.is_available():
        return "cuDNN cannot be timed: this PyTorch has none"
    return ""


class Operands:
    """A layer's tensors in torch's order of dimensions, uniform in [-1, 1)."""

    def __init__(self, torch, layer, dtype):
        self.torch, self.layer = torch, layer
        made = torch.Generator("cuda").manual_seed(1)

        def uniform(*shape):
            wide = torch.float64 if dtype == torch.float64 else torch.float32
            return (torch.rand(shape, generator=made, device="cuda", dtype=wide) * 2 - 1).to(dtype)

        self.x = uniform(layer.n, layer.c_in, *layer.size)
        self.w = uniform(layer.c_out, layer.c_in // layer.groups, *layer.filter)
        self.dy = uniform(layer.n, layer.c_out, *layer.out)

    def formed(self, change):
        made = object.__new__(Operands)
        made.torch, made.layer = self.torch, self.layer
        made.x, made.w, made.dy = change(self.x), change(self.w), change(self.dy)
        return made

    def in_layout(self, layout):
        last = {1: self.torch.contiguous_format, 2: self.torch.channels_last, 3: self.torch.channels_last_3d}
        form = last[self.layer.rank] if layout == "last" else self.torch.contiguous_format
        return self.formed(lambda tensor: tensor.contiguous(memory_format=form))

    def wide(self):
        return self.formed(lambda tensor: tensor.double())


class Op:
    """One op on given operands, as a call without arguments."""

    def __init__(self, operands, op):
        self.torch, self.layer, self.operands, self.op = operands.torch, operands.layer, operands, op
        self.even = all(before == after for before, after in self.layer.pads)
        self.padding = [before for before, _ in self.layer.pads] if self.even else [0] * self.layer.rank
        self.zeros = [n for pair in reversed(self.layer.pads) for n in pair]  # the last dimension first
        self.padded_x = self.padded(operands.x) if op == "input" else None  # of which the shape alone counts

    def padded(self, image):
        return image if self.even else self.torch.nn.functional.pad(image, self.zeros)

    def cut(self, image):
        for axis, ((before, _), size) in enumerate(zip(self.layer.pads, self.layer.size)):
            image = image if self.even else image.narrow(2 + axis, before, size)
        return image

    def backward(self, image, of_input):
        layer, given = self.layer, self.operands
        return self.torch.ops.aten.convolution_backward(
            given.dy, image, given.w, None, layer.stride, self.padding, layer.dilation, False, [0] * layer.rank,
            layer.groups, [of_input, not of_input, False])

    def __call__(self):
        layer, given = self.layer, self.operands
        if self.op == "forward":
            return self.torch.ops.aten.convolution(self.padded(given.x), given.w, None, layer.stride, self.padding,
                                                   layer.dilation, False, [0] * layer.rank, layer.groups)
        if self.op == "input":
            return self.cut(self.backward(self.padded_x, True)[0])
        return self.backward(self.padded(given.x), False)[1]


class Peers:
    def __init__(self):
        import torch
        self.torch = torch
        torch.set_grad_enabled(False)
        torch.backends.cudnn.benchmark = True
        self.types = {"f64": torch.float64, "f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16,
                      "f16": torch.float16}
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self.versions = {"peer": f"cuDNN {torch.backends.cudnn.version()}", "torch": torch.__version__,
                         "gpu": torch.cuda.get_device_name()}

    def times(self, call):
        """Microseconds of each run from a cold L2, sorted."""
        for _ in range(WARM_UPS):
            call()
        pairs = []
        for _ in range(RUNS):
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.flush.zero_()
            begin.record()
            call()
            end.record()
            end.synchronize()
            pairs.append(1e3 * begin.elapsed_time(end))
        return sorted(pairs)

    def row(self, layer, call, exact):
        error = (call().double() - exact).abs().max() / exact.abs().max()
        us = self.times(call)
        middle = statistics.median(us)
        return {"us": round(middle, 2), "least_us": round(us[0], 2), "tflops": round(layer.flops() / middle * 1e-6, 2),
                "error": float(error)}

    def rows_of_dtype(self, request, dtype):
        layer = Layer(request["shape"])
        operands = Operands(self.torch, layer, self.types[dtype])
        self.torch.backends.cudnn.allow_tf32 = dtype == "tf32"
        for op in request["ops"]:
            exact = Op(operands.wide(), op)()
            for layout in request["layouts"]:
                placed = operands.in_layout(layout)
                row = {"shape": layer.name, "op": op, "dtype": dtype, "layout": layout}
                try:
                    row.update(self.row(layer, Op(placed, op), exact), **self.versions)
                    row["gbs"] = round(layer.elements() * BYTES[dtype] / row["us"] * 1e-3, 1)
                except (RuntimeError, self.torch.cuda.OutOfMemoryError) as error:
                    row["error"] = str(error).splitlines()[0]
                yield row

    def serve(self, lines):
        for line in lines:
            request = json.loads(line)
            for dtype in request["dtypes"]:
                for row in self.rows_of_dtype(request, dtype):
                    print(json.dumps(row), flush=True)
                self.torch.cuda.empty_cache()
            print(json.dumps({"done": True}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether there is something to time")
    asked = parser.parse_args()
    reason = obstacle()
    if reason:
        print(f"gpu_peers: {reason}", file=sys.stderr)
        return 2
    if not asked.check:
        Peers().serve(sys.stdin)
    return 0


if __name__ == "__main__":
    sys.exit(main())

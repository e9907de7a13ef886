"""What is timed on a GPU: the layers of gpu_shapes.json as they are, those of shapes.json with larger batches.

Needs the standard library alone.
"""
import dataclasses
import json
import math
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
DTYPES = ("f64", "f32", "tf32", "bf16", "f16")  # tf32: f32 tensors, products with fewer bits permitted
LAYOUTS = ("last", "first")
OPS = ("filter", "input", "forward")
BYTES = {"f64": 8, "f32": 4, "tf32": 4, "bf16": 2, "f16": 2}
DIRECTION = {"filter": "filter_grad", "input": "input_grad", "forward": "forward"}
# Of a layer of shapes.json that is timed on a GPU: 40 us at least at 800 TF/s or 4 TB/s, ten times what a launch costs.
LEAST_FLOPS, LEAST_BYTES = 32e9, 160e6


def same_pads(size, filter, stride, dilation):
    """TensorFlow's SAME: as many outputs as strides fit, the odd zero behind."""
    total = max(0, (-(-size // stride) - 1) * stride + (filter - 1) * dilation + 1 - size)
    return [total // 2, total - total // 2]


class Layer:
    def __init__(self, shape):
        self.name, self.n = shape["name"], shape["N"]
        self.c_in, self.c_out, self.groups = shape["Cin"], shape["Cout"], shape.get("groups", 1)
        self.size, self.filter = shape["spatial"], shape["kernel"]
        self.rank = len(self.size)
        self.stride = shape.get("stride", [1] * self.rank)
        self.dilation = shape.get("dilation", [1] * self.rank)
        axes = list(zip(self.size, self.filter, self.stride, self.dilation))
        named = {"SAME": [same_pads(*axis) for axis in axes], "VALID": [[0, 0]] * self.rank}
        self.pads = named[shape["pad"]] if isinstance(shape["pad"], str) else shape["pad"]
        self.out = [(size + sum(pad) - (filter - 1) * dilation - 1) // stride + 1
                    for (size, filter, stride, dilation), pad in zip(axes, self.pads)]

    def flops(self):
        """Of any of the three ops, padding counted, as convgrad counts them."""
        taps = math.prod(self.filter) * (self.c_in // self.groups)
        return 2.0 * self.n * math.prod(self.out) * taps * self.c_out

    def elements(self):
        """Of input, output and filter."""
        images = self.n * (math.prod(self.size) * self.c_in + math.prod(self.out) * self.c_out)
        return images + math.prod(self.filter) * (self.c_in // self.groups) * self.c_out

    def problem(self, cell):
        """The problem string of include/convgrad/problem.h."""
        def sizes(letters, numbers):
            return "".join(f"{letter}{number}" for letter, number in zip(letters[-self.rank:], numbers))

        def each(numbers):
            return "x".join(map(str, numbers))

        pads = "x".join(f"{before}.{after}" for before, after in self.pads)
        return (f"n{self.n}c{self.c_in}{sizes('dhw', self.size)}_k{self.c_out}{sizes('trs', self.filter)}"
                f"_st{each(self.stride)}_di{each(self.dilation)}_pad{pads}_g{self.groups}_ch{cell.layout}_{cell.stored}"
                f"_{DIRECTION[cell.op]}")

    def line(self, cell):
        """What gpu_time is asked."""
        return f"{self.name} {self.problem(cell)} {cell.math}"


@dataclasses.dataclass(frozen=True)
class Cell:
    dtype: str
    layout: str
    op: str

    @property
    def stored(self):
        return "f32" if self.dtype == "tf32" else self.dtype

    @property
    def math(self):
        return "tf32" if self.dtype == "tf32" else "standard"


def cells(dtypes=DTYPES, layouts=LAYOUTS, ops=OPS):
    return [Cell(dtype, layout, op) for dtype in dtypes for layout in layouts for op in ops]


def enlarged(shape):
    """The shape with its batch doubled until a GPU has enough to do."""
    shape = dict(shape)
    while Layer(shape).flops() < LEAST_FLOPS and 2 * Layer(shape).elements() < LEAST_BYTES:
        shape["N"] *= 2
    return shape


def shapes():
    """All shapes to time, those made for GPUs first; of two with one name the first counts."""
    def read(name):
        return json.loads((FOLDER / name).read_text())["shapes"]

    made = read("gpu_shapes.json")
    names = {shape["name"] for shape in made}
    return made + [enlarged(shape) for shape in read("shapes.json") if shape["name"] not in names]

"""Seeded random convolution problems, some for every cell of the coverage page, and the calls that state them.

A cell is an op, a dtype, a layout, dilated or not, grouped or not. A problem is a layer (bench/peers/cells.py) in a
cell, with data; operands are kept channels last, filters as (spatial..., in channels of a group, out channels).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from cells import Layer


class Op(NamedTuple):
    family: str  # "conv" or "depthwise"
    rank: int
    direction: str  # "forward", "filter" or "input", as cells.py has them


OPS = {
    "Conv2D": Op("conv", 2, "forward"),
    "Conv2DBackpropFilter": Op("conv", 2, "filter"),
    "Conv2DBackpropInput": Op("conv", 2, "input"),
    "DepthwiseConv2dNative": Op("depthwise", 2, "forward"),
    "DepthwiseConv2dNativeBackpropFilter": Op("depthwise", 2, "filter"),
    "DepthwiseConv2dNativeBackpropInput": Op("depthwise", 2, "input"),
    "Conv3D": Op("conv", 3, "forward"),
    "Conv3DBackpropFilterV2": Op("conv", 3, "filter"),
    "Conv3DBackpropInputV2": Op("conv", 3, "input"),
}
DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i32": np.dtype(np.int32),
}
INT32_OPS = ("Conv2D", "Conv2DBackpropInput")
# Integers up to here are exact in a dtype, so that no order of summation rounds.
EXACT_BELOW = {"f32": 2**24, "f64": 2**53, "f16": 2**11, "bf16": 2**8, "i32": 2**31}
MOST_PRODUCTS = 200_000
# TensorFlow's functions beside the raw ops; those of 2-D take a list of pairs as padding.
FUNCTIONS = {
    "Conv2D": "nn.conv2d",
    "Conv2DBackpropFilter": "compat.v1.nn.conv2d_backprop_filter",
    "Conv2DBackpropInput": "nn.conv2d_transpose",
    "Conv3D": "nn.conv3d",
    "Conv3DBackpropFilterV2": "compat.v1.nn.conv3d_backprop_filter_v2",
    "Conv3DBackpropInputV2": "nn.conv3d_transpose",
}


class Cell(NamedTuple):
    op: str
    dtype: str
    layout: str  # "last" or "first"
    dilated: bool
    grouped: bool


@dataclasses.dataclass(frozen=True)
class Problem:
    cell: Cell
    layer: Layer
    data: str = "integers"  # or "reals"
    seed: int = 0
    function: bool = False  # stated through FUNCTIONS, not through the raw op

    @property
    def op(self) -> Op:
        return OPS[self.cell.op]

    @property
    def padding(self) -> str:
        return self.layer.padding

    @property
    def first(self) -> bool:
        return self.cell.layout == "first"

    @property
    def unsayable(self) -> bool:
        """TensorFlow's 3-D ops have no word for this padding."""
        return self.op.rank == 3 and self.padding == "EXPLICIT"

    def terms(self) -> int:
        """Products in the longest sum of a result's element."""
        layer, taps = self.layer, math.prod(self.layer.filter)
        counts = {"forward": taps * layer.group_c_in, "input": taps * layer.group_c_out}
        return max(counts.get(self.op.direction, layer.n * math.prod(layer.out)), 1)

    def __str__(self) -> str:
        layer, cell = self.layer, self.cell
        pads = layer.pads if self.padding == "EXPLICIT" else self.padding
        return (
            f"{cell.op} {cell.dtype} {cell.layout} input {layer.in_shape} filter {layer.filter_shape} "
            f"strides {layer.stride} dilations {layer.dilation} padding {pads} groups {layer.groups} "
            f"{self.data} seed {self.seed}"
        )


def all_cells() -> list[Cell]:
    cells = []
    for name, op in OPS.items():
        dtypes = [d for d in DTYPES if d != "i32" or name in INT32_OPS]
        grouped = [False, True] if op.family == "conv" else [True]
        cells += [Cell(name, *rest) for rest in itertools.product(dtypes, ["last", "first"], [False, True], grouped)]
    return cells


def make_layer(shape: dict[str, Any]) -> Layer:
    layer = Layer({"name": "", **shape})
    layer.padding = shape["pad"] if isinstance(shape["pad"], str) else "EXPLICIT"
    return layer


def draw_problems(each: int) -> list[Problem]:
    """`each` problems for every cell; the draw of a cell's k-th depends on nothing else."""
    problems = []
    for cell in all_cells():
        for k in range(each):
            data = "integers" if k % 2 == 0 or cell.dtype == "i32" else "reals"
            function = k % 3 == 2 and cell.op in FUNCTIONS
            problems.append(draw_problem(cell, k, data, function))
    return problems


def draw_problem(cell: Cell, seed: int, data: str, function: bool) -> Problem:
    rng = np.random.default_rng([seed, *str(cell).encode()])
    while True:
        problem = Problem(cell, make_layer(draw_shape(rng, cell)), data, seed, function)
        if problem.unsayable:
            problem = dataclasses.replace(problem, function=True)
        layer = problem.layer
        products = layer.flops() / 2
        if min(layer.out) >= 1 and products <= MOST_PRODUCTS and problem.terms() <= EXACT_BELOW[cell.dtype]:
            return problem


def draw_shape(rng: np.random.Generator, cell: Cell) -> dict[str, Any]:
    rank = OPS[cell.op].rank

    def each(choices: Any) -> list[int]:
        return [int(n) for n in rng.choice(choices, rank)]

    groups, c_in, c_out = draw_channels(rng, cell)
    kernel = each([1, 2, 3, 3, 4, 5] if rank == 2 else [1, 2, 3, 3])
    dilation = [1] * rank
    if cell.dilated:
        dilation = each([1, 2, 3])
        place = int(rng.integers(rank))  # where the dilation is seen
        kernel[place], dilation[place] = max(kernel[place], 2), max(dilation[place], 2)
    pad: Any = str(rng.choice(["SAME", "VALID", "EXPLICIT"]))
    if pad == "EXPLICIT":
        pad = [each([0, 0, 1, 2, 3])[:2] for _ in range(rank)]
    size = each(range(1, 9) if rank == 2 else range(1, 7))
    one = rng.random() < 0.5
    stride = each([1, 1, 1, 2, 2, 3, 4])
    return {
        "N": int(rng.integers(1, 3)),
        "Cin": c_in,
        "Cout": c_out,
        "groups": groups,
        "spatial": size,
        "kernel": kernel,
        "stride": [stride[0]] * rank if one else stride,
        "dilation": dilation,
        "pad": pad,
    }


def draw_channels(rng: np.random.Generator, cell: Cell) -> tuple[int, int, int]:
    """Groups, channels in and out."""
    if OPS[cell.op].family == "depthwise":
        c_in = int(rng.choice([1, 2, 3, 4, 8, 17]))
        return c_in, c_in, c_in * int(rng.choice([1, 2, 3]))
    groups = int(rng.choice([2, 3, 4])) if cell.grouped else 1
    return groups, groups * int(rng.choice([1, 2, 3, 4, 16])), groups * int(rng.choice([1, 2, 3, 4, 16]))


@dataclasses.dataclass(frozen=True)
class Operands:
    layer: Layer
    input: np.ndarray
    filter: np.ndarray
    out_backprop: np.ndarray


def operands_of(problem: Problem) -> Operands:
    """Integers whose every partial sum is exact in the dtype, or reals in [-1, 1)."""
    rng = np.random.default_rng([problem.seed, 1])
    layer, dtype = problem.layer, DTYPES[problem.cell.dtype]
    largest = max(a for a in (1, 2, 3) if a == 1 or a * a * problem.terms() <= EXACT_BELOW[problem.cell.dtype])

    def draw(shape: tuple[int, ...]) -> np.ndarray:
        if problem.data == "integers":
            return rng.integers(-largest, largest + 1, shape).astype(dtype)
        return (rng.random(shape) * 2 - 1).astype(dtype)

    return Operands(layer, draw(layer.in_shape), draw(layer.filter_shape), draw(layer.out_shape))


def call_of(problem: Problem, operands: Operands) -> tuple[str, dict[str, Any]]:
    """The function's path under `tensorflow`, and its arguments."""
    names = FUNCTIONS[problem.cell.op] if problem.function else f"raw_ops.{problem.cell.op}"
    return names, {**tensors_of(problem, operands), **attributes_of(problem)}


def tensors_of(problem: Problem, operands: Operands) -> dict[str, Any]:
    layer, direction = problem.layer, problem.op.direction
    x, dy = to_layout(problem, operands.input), to_layout(problem, operands.out_backprop)
    w = operands.filter.reshape(filter_shape(problem))
    if direction == "forward":
        return {"input": x, ("filters" if problem.function else "filter"): w}
    if direction == "filter":
        return {"input": x, "filter_sizes": list(w.shape), "out_backprop": dy}
    sizes = in_format(problem, layer.n, layer.size, layer.c_in)
    if problem.function:
        return {"input": dy, "filters": w, "output_shape": sizes}
    return {"input_sizes": sizes, "filter": w, "out_backprop": dy}


def attributes_of(problem: Problem) -> dict[str, Any]:
    layer = problem.layer
    last, first = ("NHWC", "NCHW") if layer.rank == 2 else ("NDHWC", "NCDHW")
    attributes: dict[str, Any] = {
        "strides": in_format(problem, 1, layer.stride, 1),
        "padding": problem.padding,
        "data_format": first if problem.first else last,
        "dilations": in_format(problem, 1, layer.dilation, 1),
    }
    pairs = in_format(problem, (0, 0), layer.pads, (0, 0))
    if problem.padding == "EXPLICIT" and problem.function:
        attributes["padding"] = [list(pair) for pair in pairs]
    elif problem.padding == "EXPLICIT":
        attributes["explicit_paddings"] = [n for pair in pairs for n in pair]
    return attributes


def filter_shape(problem: Problem) -> tuple[int, ...]:
    layer = problem.layer
    if problem.op.family == "conv":
        return layer.filter_shape
    return (*layer.filter, layer.c_in, layer.group_c_out)


def in_format(problem: Problem, batch: Any, spatial: Any, channels: Any) -> list[Any]:
    return [batch, channels, *spatial] if problem.first else [batch, *spatial, channels]


def to_layout(problem: Problem, image: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(image, -1, 1)) if problem.first else image


def result_last(problem: Problem, result: np.ndarray) -> np.ndarray:
    """A call's result channels last; of filters in the layer's shape."""
    if problem.op.direction == "filter":
        shape = problem.layer.filter_shape
        return result.reshape(shape) if result.size == math.prod(shape) else result
    return np.moveaxis(result, 1, -1) if problem.first and result.ndim > 1 else result

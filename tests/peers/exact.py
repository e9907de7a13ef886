"""The definition: what settles a difference, with the error that each side may have.

i = o * stride - before + t * dilation. Integer data is exact in every dtype here. Of real data, L products with
magnitudes that sum to S have in any order of summation an error of at most L * u * S (u: half a unit in the last
place); a peer may sum in the dtype itself, we sum at least in float and round once.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from problems import Operands, Problem

# Half a unit in the last place of 1, and the smallest positive number.
HALF_ULP = {"f32": 2.0**-24, "f64": 2.0**-53, "f16": 2.0**-11, "bf16": 2.0**-8}
SMALLEST = {"f32": 2.0**-149, "f64": 2.0**-1074, "f16": 2.0**-24, "bf16": 2.0**-133}
SUMMED_IN = {"f32": "f32", "f64": "f64", "f16": "f32", "bf16": "f32"}


def result_of(direction: str, layer: Any, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """first, second: input and filter; input and out_backprop; filter and out_backprop."""
    return {"forward": forward, "filter": filter_gradient, "input": input_gradient}[direction](layer, first, second)


def forward(layer: Any, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    padded, kernel = grouped(layer, pad(layer, x)), filters(layer, w)
    y = np.zeros((layer.n, *layer.out, layer.groups, layer.group_c_out), x.dtype)
    for tap, where in taps(layer):
        y += np.einsum("...gi,igo->...go", padded[where], kernel[tap])
    return y.reshape(layer.out_shape)


def filter_gradient(layer: Any, x: np.ndarray, dy: np.ndarray) -> np.ndarray:
    padded = grouped(layer, pad(layer, x))
    outer = grouped(layer, dy).reshape(-1, layer.groups, layer.group_c_out)
    dw = np.zeros((*layer.filter, layer.group_c_in, layer.groups, layer.group_c_out), x.dtype)
    for tap, where in taps(layer):
        dw[tap] = np.einsum("pgi,pgo->igo", padded[where].reshape(-1, layer.groups, layer.group_c_in), outer)
    return dw.reshape(layer.filter_shape)


def input_gradient(layer: Any, w: np.ndarray, dy: np.ndarray) -> np.ndarray:
    sizes = [size + sum(pair) for size, pair in zip(layer.size, layer.pads)]
    dx = np.zeros((layer.n, *sizes, layer.groups, layer.group_c_in), w.dtype)
    outer, kernel = grouped(layer, dy), filters(layer, w)
    for tap, where in taps(layer):
        dx[where] += np.einsum("...go,igo->...gi", outer, kernel[tap])
    inner = tuple(slice(before, before + size) for (before, _), size in zip(layer.pads, layer.size))
    return dx[(slice(None), *inner)].reshape(layer.in_shape)


def taps(layer: Any) -> list[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Every element of the filter, and what of the padded input it meets."""
    if min(layer.out) == 0:
        return []
    met = []
    for tap in itertools.product(*(range(size) for size in layer.filter)):
        starts = [t * d for t, d in zip(tap, layer.dilation)]
        ends = [a + (o - 1) * s + 1 for a, o, s in zip(starts, layer.out, layer.stride)]
        met.append((tap, (slice(None), *(slice(*ends) for ends in zip(starts, ends, layer.stride)))))
    return met


def pad(layer: Any, x: np.ndarray) -> np.ndarray:
    return np.pad(x, ((0, 0), *layer.pads, (0, 0)))


def grouped(layer: Any, image: np.ndarray) -> np.ndarray:
    return image.reshape(*image.shape[:-1], layer.groups, image.shape[-1] // layer.groups)


def filters(layer: Any, w: np.ndarray) -> np.ndarray:
    return w.reshape(*layer.filter, layer.group_c_in, layer.groups, layer.group_c_out)


class Truth:
    """A problem's result by definition, and how far another may be from it."""

    def __init__(self, problem: Problem, operands: Operands) -> None:
        pair = {
            "forward": (operands.input, operands.filter),
            "filter": (operands.input, operands.out_backprop),
            "input": (operands.filter, operands.out_backprop),
        }[problem.op.direction]
        wide = np.longdouble if problem.cell.dtype == "f64" else np.float64
        self.problem = problem
        self.first, self.second = (array.astype(wide) for array in pair)
        self.value = result_of(problem.op.direction, problem.layer, self.first, self.second)

    def bound(self, ours: bool) -> np.ndarray:
        if self.problem.data == "integers":
            return np.zeros(self.value.shape)
        dtype, terms = self.problem.cell.dtype, self.problem.terms() + 1
        sums = result_of(self.problem.op.direction, self.problem.layer, abs(self.first), abs(self.second))
        smallest = terms * SMALLEST[dtype]
        if not ours:
            return terms * HALF_ULP[dtype] * sums + smallest
        return HALF_ULP[dtype] * abs(self.value) + terms * HALF_ULP[SUMMED_IN[dtype]] * sums + smallest

    def difference(self, result: np.ndarray, ours: bool = False) -> str:
        """What is wrong with a channels-last result; "" when nothing is."""
        if result.shape != self.value.shape:
            return f"shape {result.shape} and not {self.value.shape}"
        errors = abs(result - self.value)
        bad = ~(errors <= self.bound(ours))
        if not bad.any():
            return ""
        place = tuple(int(n) for n in np.argwhere(bad)[0])
        got, wanted = float(result[place]), float(self.value[place])
        return f"{int(bad.sum())} of {result.size} elements, at {place} {got:.9g} and not {wanted:.9g}"

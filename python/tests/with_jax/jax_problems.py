"""Random convolutions, what lax says of them, and how far from that an answer may be."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from convgrad import jax as ours

UNIT_ROUNDOFF = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
SMALLEST = {"float16": 2.0**-25, "bfloat16": 2.0**-134, "float32": 2.0**-150, "float64": 0.0}


def bound(dtype: str, exact: np.ndarray, magnitudes: np.ndarray, terms: int) -> np.ndarray:
    """How far a result may lie from lax's in float64: the library's stated bound (8 roundings of the accumulator on
    the sum of magnitudes, one of the store), and a rounding a term of lax's own sum."""
    unit = UNIT_ROUNDOFF["float64" if dtype == "float64" else "float32"]
    summing = (8 * unit + terms * UNIT_ROUNDOFF["float64"]) * magnitudes
    return summing + np.maximum((np.abs(exact) + summing) * UNIT_ROUNDOFF[dtype], SMALLEST[dtype])


def assert_same(problem: Problem, found: Any, want: Any) -> None:
    """Two float64 computations of the same expression of convolutions: a rounding a term in each sum, of terms whose
    magnitudes add up to at most `terms` times the largest result (and 1, where all results are small)."""
    for got, exact in zip(jax.tree.leaves(found), jax.tree.leaves(want)):
        largest = float(np.max(np.abs(exact), initial=0)) + 1
        allowed = problem.terms**2 * largest * UNIT_ROUNDOFF["float64"]
        np.testing.assert_allclose(np.asarray(got), np.asarray(exact), rtol=0, atol=allowed)


@dataclasses.dataclass(frozen=True)
class Problem:
    """Sizes by spatial dimension; padding is a name or pairs."""

    batch: int
    groups: int
    group_in: int
    group_out: int
    sizes: tuple[int, ...]
    filter: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: Any
    channels_first: bool

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def data_format(self) -> str:
        spatial = "DHW"[3 - self.rank :]
        return f"NC{spatial}" if self.channels_first else f"N{spatial}C"

    @property
    def options(self) -> dict[str, Any]:
        return {
            "strides": self.strides,
            "padding": self.padding,
            "dilations": self.dilations,
            "data_format": self.data_format,
        }

    def _data(self, channels: int) -> tuple[int, ...]:
        return (self.batch, channels, *self.sizes) if self.channels_first else (self.batch, *self.sizes, channels)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return self._data(self.groups * self.group_in)

    @property
    def filter_shape(self) -> tuple[int, ...]:
        return (*self.filter, self.group_in, self.groups * self.group_out)

    @property
    def output_shape(self) -> tuple[int, ...]:
        shapes = [jax.ShapeDtypeStruct(s, "float32") for s in (self.input_shape, self.filter_shape)]
        return jax.eval_shape(self.lax, *shapes).shape

    def lax(self, x: Any, w: Any) -> jax.Array:
        filter_format = "DHW"[3 - self.rank :] + "IO"
        return lax.conv_general_dilated(
            x,
            w,
            window_strides=self.strides,
            padding=self.padding,
            rhs_dilation=self.dilations,
            dimension_numbers=(self.data_format, filter_format, self.data_format),
            feature_group_count=self.groups,
        )

    def conv(self, x: Any, w: Any) -> jax.Array:
        return ours.conv(x, w, **self.options)

    def input_gradient(self, w: Any, dy: Any) -> jax.Array:
        return ours.conv_input_gradient(self.input_shape, w, dy, **self.options)

    def filter_gradient(self, x: Any, dy: Any) -> jax.Array:
        return ours.conv_filter_gradient(x, self.filter_shape, dy, **self.options)

    @property
    def terms(self) -> int:
        """At least the length of any sum of the three ops."""
        taps = math.prod(self.filter) * max(self.group_in, self.group_out)
        return max(taps, self.batch * math.prod(self.output_shape))


def draw(seed: int, rank: int | None = None) -> Problem:
    """A small problem whose output is not empty."""
    rng = np.random.default_rng(seed)
    while True:
        dims = rank or int(rng.integers(1, 4))

        def some(low: int, high: int, count: int = dims) -> tuple[int, ...]:
            return tuple(int(v) for v in rng.integers(low, high + 1, count))

        batch, groups, group_in, group_out = some(1, 3, 4)
        pairs = tuple(zip(some(0, 3), some(0, 3)))
        padding = ("SAME", "VALID", pairs)[rng.integers(3)]
        problem = Problem(
            batch,
            groups,
            group_in,
            group_out,
            some(1, 9),
            some(1, 3),
            some(1, 3),
            some(1, 3),
            padding,
            bool(rng.integers(2)),
        )
        if math.prod(problem.output_shape) > 0:
            return problem


def tensors(problem: Problem, seed: int, dtype: str = "float64") -> tuple[jax.Array, jax.Array, jax.Array]:
    """Input, filter and output gradient, normally distributed."""
    rng = np.random.default_rng(seed)
    shapes = (problem.input_shape, problem.filter_shape, problem.output_shape)
    x, w, dy = (jnp.asarray(rng.standard_normal(shape)).astype(dtype) for shape in shapes)
    return x, w, dy

"""The convolution and its gradients by their definition, in exact integers: what every result is compared with."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np


@dataclasses.dataclass(frozen=True)
class Window:
    """Spatial sizes of one convolution, channels last, padding as (before, after) pairs."""

    input: tuple[int, ...]
    filter: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    def output(self) -> tuple[int, ...]:
        spans = [(f - 1) * d + 1 for f, d in zip(self.filter, self.dilations)]
        return tuple((i + sum(p) - e) // s + 1 for i, p, e, s in zip(self.input, self.pads, spans, self.strides))

    def taps(self) -> list[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """Every element of the window, and what of the padded input it meets."""
        taps = []
        for tap in itertools.product(*(range(f) for f in self.filter)):
            starts = [t * d for t, d in zip(tap, self.dilations)]
            ends = [a + (o - 1) * s + 1 for a, o, s in zip(starts, self.output(), self.strides)]
            taps.append((tap, tuple(slice(a, e, s) for a, e, s in zip(starts, ends, self.strides))))
        return taps


def same_pads(input: tuple[int, ...], filter: tuple[int, ...], strides: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """TensorFlow's SAME: ceil(input / stride) outputs, the odd zero at the end."""
    pads = []
    for i, f, s in zip(input, filter, strides):
        total = max((-(-i // s) - 1) * s + f - i, 0)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def forward(x: np.ndarray, w: np.ndarray, window: Window) -> np.ndarray:
    padded = _padded(x, window)
    y = np.zeros((x.shape[0], *window.output(), w.shape[-1]), object)
    for tap, where in window.taps():
        y += padded[(slice(None), *where)] @ w[tap].astype(object)
    return y


def filter_gradient(x: np.ndarray, dy: np.ndarray, window: Window) -> np.ndarray:
    padded = _padded(x, window)
    dw = np.zeros((*window.filter, x.shape[-1], dy.shape[-1]), object)
    for tap, where in window.taps():
        rows = padded[(slice(None), *where)].reshape(-1, x.shape[-1])
        dw[tap] = rows.T @ dy.astype(object).reshape(-1, dy.shape[-1])
    return dw


def input_gradient(w: np.ndarray, dy: np.ndarray, window: Window) -> np.ndarray:
    sizes = [i + sum(p) for i, p in zip(window.input, window.pads)]
    dx = np.zeros((dy.shape[0], *sizes, w.shape[-2]), object)
    for tap, where in window.taps():
        dx[(slice(None), *where)] += dy.astype(object) @ w[tap].astype(object).T
    inner = tuple(slice(p[0], p[0] + i) for i, p in zip(window.input, window.pads))
    return dx[(slice(None), *inner)]


def integers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Small integers: sums of their products are exact in every element type of the tests."""
    return np.random.default_rng(seed).integers(-2, 3, size=shape)


def _padded(x: np.ndarray, window: Window) -> np.ndarray:
    return np.pad(x.astype(object), ((0, 0), *window.pads, (0, 0)))

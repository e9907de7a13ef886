"""Convolutions and their gradients by the definition, in float64. Data are small integers, so every sum is exact and
results are compared bit for bit; 16-bit results are the exact sums rounded once."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Case:
    rank: int = 2
    first: bool = False  # channels first
    dtype: str = "float32"
    dilation: int = 1
    groups: int = 1
    stride: int = 1
    padding: str = "SAME"  # SAME, VALID, or EXPLICIT with 1 before and 2 after
    multiplier: int = 0  # of a depthwise filter; 0: an ordinary one

    def __str__(self) -> str:
        parts = [f"{self.rank}d", self.data_format, self.dtype, f"di{self.dilation}", f"g{self.groups}"]
        parts += [f"st{self.stride}", self.padding.lower(), *([f"dw{self.multiplier}"] if self.multiplier else [])]
        return "-".join(parts)

    @property
    def data_format(self) -> str:
        spatial = "HW" if self.rank == 2 else "DHW"
        return f"NC{spatial}" if self.first else f"N{spatial}C"

    @property
    def kernel(self) -> tuple[int, ...]:
        return (3, 2) if self.rank == 2 else (2, 3, 2)

    @property
    def spatial(self) -> tuple[int, ...]:
        return (7, 6) if self.rank == 2 else (5, 6, 4)

    @property
    def channels(self) -> tuple[int, int]:
        return (4, 4 * self.multiplier) if self.multiplier else (4, 6)

    @property
    def grouped(self) -> Case:
        """The same convolution with its depthwise filter seen as groups."""
        return replace(self, groups=4, multiplier=0) if self.multiplier else self

    def per_dimension(self, number: int) -> list[int]:
        spatial = [number] * self.rank
        return [1, 1, *spatial] if self.first else [1, *spatial, 1]

    def pads(self) -> list[tuple[int, int]]:
        if self.padding == "EXPLICIT":
            return [(1, 2)] * self.rank
        if self.padding == "VALID":
            return [(0, 0)] * self.rank
        reach = [(k - 1) * self.dilation + 1 for k in self.kernel]
        total = [max((-(-s // self.stride) - 1) * self.stride + r - s, 0) for s, r in zip(self.spatial, reach)]
        return [(t // 2, t - t // 2) for t in total]

    def explicit_paddings(self) -> list[int]:
        if self.padding != "EXPLICIT":
            return []
        spatial = [number for pair in self.pads() for number in pair]
        return [0, 0, 0, 0, *spatial] if self.first else [0, 0, *spatial, 0, 0]

    def to_layout(self, channels_last: np.ndarray) -> np.ndarray:
        return np.moveaxis(channels_last, -1, 1).copy() if self.first else channels_last


@dataclass(frozen=True)
class Exact:
    """Operands and the three results, filters as the op takes them, images in the case's layout."""

    x: np.ndarray
    w: np.ndarray
    dy: np.ndarray
    y: np.ndarray
    dx: np.ndarray
    dw: np.ndarray


def exact(case: Case) -> Exact:
    rng = np.random.default_rng(len(str(case)))
    c_in, c_out = case.channels
    groups = case.grouped.groups
    draw = lambda *shape: rng.integers(-3, 4, shape).astype(np.float64)  # noqa: E731
    x, w = draw(2, *case.spatial, c_in), draw(*case.kernel, c_in // groups, c_out)
    windows = Windows(case, x)
    dy = draw(2, *windows.out, c_out)
    y, dw, dx = np.zeros_like(dy), np.zeros_like(w), np.zeros_like(windows.padded)
    split = lambda tensor: tensor.reshape(*tensor.shape[:-1], groups, -1)  # noqa: E731
    for tap in itertools.product(*map(range, case.kernel)):
        at = windows.at(tap)
        y += np.einsum("...gi,igo->...go", split(windows.padded[at]), split(w[tap])).reshape(y.shape)
        dw[tap] = np.einsum(
            "bgi,bgo->igo", *(split(t.reshape(-1, t.shape[-1])) for t in (windows.padded[at], dy))
        ).reshape(dw[tap].shape)
        dx[at] += np.einsum("...go,igo->...gi", split(dy), split(w[tap])).reshape(dx[at].shape)
    shape = (*case.kernel, c_in, case.multiplier) if case.multiplier else w.shape
    images = (case.to_layout(image) for image in (x, dy, y, windows.cut(dx)))
    x, dy, y, dx = images
    return Exact(x, w.reshape(shape), dy, y, dx, dw.reshape(shape))


class Windows:
    """The padded input, and for each tap of the filter the elements that it meets."""

    def __init__(self, case: Case, x: np.ndarray) -> None:
        self.case, self.pads = case, case.pads()
        self.padded = np.pad(x, [(0, 0), *self.pads, (0, 0)])
        reach = [(k - 1) * case.dilation + 1 for k in case.kernel]
        self.out = [(s - r) // case.stride + 1 for s, r in zip(self.padded.shape[1:-1], reach)]

    def at(self, tap: tuple[int, ...]) -> tuple[slice, ...]:
        starts = [t * self.case.dilation for t in tap]
        stops = [start + (out - 1) * self.case.stride + 1 for start, out in zip(starts, self.out)]
        return (slice(None), *(slice(a, b, self.case.stride) for a, b in zip(starts, stops)), slice(None))

    def cut(self, image: np.ndarray) -> np.ndarray:
        inner = [slice(before, size - after) for (before, after), size in zip(self.pads, image.shape[1:-1])]
        return image[(slice(None), *inner, slice(None))]

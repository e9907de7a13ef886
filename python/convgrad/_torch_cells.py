"""Which gradients convgrad takes over from PyTorch: the table, and how it is read.

Measured by bench/torch_plugin.py on one core; docs/design/008-torch.md has the figures.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import torch

from . import _core
from ._torch_run import Problem


class Row(NamedTuple):
    """Cells that convgrad takes. None: any."""

    dtypes: tuple[torch.dtype, ...]
    kind: str | None = None  #: dense, grouped or depthwise
    rank: int | None = None
    channels_last: bool | None = None
    gradients: str = "input filter"
    least_macs: float = 1e5  #: below, a call's fixed cost decides (about 20 us of Python)


ROWS = [Row((torch.float64, torch.float32, torch.bfloat16, torch.float16))]


@functools.lru_cache(maxsize=4096)
def taken(problem: Problem) -> frozenset[str]:
    """Of "input" and "filter" the gradients of this convolution that convgrad gives."""
    if 0 in problem.image or 0 in problem.kernel or 0 in problem.out:
        return frozenset()
    found = {name for row in ROWS if _is_in(problem, row) for name in row.gradients.split()}
    return frozenset(found | {"filter"} if is_shallow(problem) else found)


def is_shallow(problem: Problem) -> bool:
    """Volumes that a padded kernel overhangs: oneDNN leaves parts of their bf16 and f32 filter gradients unwritten.

    Seen with PyTorch 2.15 for depth < kernel depth (bf16) and depth < kernel depth + stride (f32).
    """
    depth, reach = problem.image[2], (problem.kernel[2] - 1) * problem.window.dilation[0] + 1
    return problem.rank == 3 and problem.window.pads[0][0] > 0 and depth < reach + problem.window.stride[0]


def kind_of(problem: Problem) -> str:
    if problem.window.groups == 1:
        return "dense"
    return "depthwise" if problem.kernel[1] == 1 else "grouped"


def macs_of(problem: Problem) -> float:
    return math.prod(problem.out) * math.prod(problem.kernel[1:])


def _is_in(problem: Problem, row: Row) -> bool:
    return (
        problem.dtype in row.dtypes
        and row.kind in (None, kind_of(problem))
        and row.rank in (None, problem.rank)
        and row.channels_last in (None, problem.channels_last)
        and macs_of(problem) >= row.least_macs
    )

"""Which gradients convgrad takes over from PyTorch: the table, and how it is read.

Measured by bench/torch_plugin.py on one core; docs/design/008-torch.md has the figures.
"""

from __future__ import annotations

import functools
import math
import platform
from typing import Any, NamedTuple

import torch

from . import _core
from ._torch_run import DTYPES, Problem


class Row(NamedTuple):
    """Cells that convgrad takes. None: any."""

    dtypes: tuple[torch.dtype, ...]
    kinds: str = "pointwise stem dense grouped depthwise"  #: see kind_of
    rank: int | None = None
    channels_last: bool | None = None
    gradients: str = "input filter"
    least_macs: float = 1e6  #: multiply-adds below which a call's fixed cost, 30 us of Python, decides


def _without_arithmetic() -> tuple[torch.dtype, ...]:
    """16-bit types that PyTorch has no instructions for on this CPU. Measured on x86-64 alone."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ()
    bf16 = {"avx512bf16", "amx_bf16"} & set(_core.config()["features"])
    onednn: Any = torch.backends.mkldnn
    f16 = onednn.is_available() and torch.ops.mkldnn._is_mkldnn_fp16_supported()
    return (() if bf16 else (torch.bfloat16,)) + (() if f16 else (torch.float16,))


def _has_dot_products() -> bool:
    """bf16 dot products and no tiles: AMD since Zen 4. PyTorch's dense layers are as fast as convgrad's there."""
    features = _core.config()["features"]
    return "avx512bf16" in features and "amx_bf16" not in features


_F32, _F64, _BF16 = (torch.float32,), (torch.float64,), (torch.bfloat16,)
ROWS = [
    Row(_F64, "stem dense"),  # 1.0x to 34x
    Row(_F64, "pointwise", channels_last=True),  # channels first is one product of matrices: 0.8x
    Row(_F64, "grouped", least_macs=1e5),  # 1.7x to 9x
    Row(_F64 + _F32, "depthwise", least_macs=1e4),  # 1.1x to 64x
    Row(_F32, "pointwise stem", channels_last=False, least_macs=3e6),  # 1.0x to 6x
    Row(_F32, "dense", channels_last=False, gradients="filter", least_macs=3e6),  # 0.9x to 4x
    Row(_F32, "stem", channels_last=True, least_macs=3e6),  # 1.1x to 6x; other dense layers 0.7x to 1.9x
    Row(_F32, "grouped", gradients="filter", least_macs=1e5),  # 1.5x to 5x; input gradients 0.7x to 1.9x
    Row(_without_arithmetic(), "pointwise stem dense"),  # bf16 0.9x to 14x, f16 2x to 80x
    Row(_without_arithmetic(), "grouped depthwise", least_macs=1e5),  # bf16 0.9x to 105x, f16 2x to 125x
    Row((torch.bfloat16, torch.float16), "depthwise", rank=3, least_macs=1e5),  # loops, whatever the CPU has
]
if _has_dot_products():
    ROWS += [
        Row(_BF16, "stem", gradients="input"),  # 1.9x to 2.2x; filter gradients 0.5x to 0.7x
        Row(_BF16, "grouped depthwise", gradients="filter", least_macs=1e5),  # 1.0x to 32x; input 0.4x to 1.0x
    ]
else:  # 1.2x to 2.6x; with dot products 0.9x to 1.1x
    ROWS += [Row(_F32, "dense", channels_last=False, gradients="input", least_macs=3e6)]
GPU_ROWS = [Row(tuple(DTYPES), least_macs=0)]  # not measured, so only by install(gpu=True): all that the engine takes


@functools.lru_cache(maxsize=4096)
def taken(problem: Problem) -> frozenset[str]:
    """Of "input" and "filter" the gradients of this convolution that convgrad gives."""
    if 0 in problem.image or 0 in problem.kernel or 0 in problem.out:
        return frozenset()
    on_host = problem.gpu is None
    rows = ROWS if on_host else GPU_ROWS
    found = {name for row in rows if _is_in(problem, row) for name in row.gradients.split()}
    return frozenset(found | {"filter"} if on_host and is_shallow(problem) else found)


def is_shallow(problem: Problem) -> bool:
    """Volumes that a padded kernel overhangs: oneDNN leaves parts of their bf16 and f32 filter gradients unwritten.

    Seen with PyTorch 2.15 for depth < kernel depth (bf16) and depth < kernel depth + stride (f32).
    """
    depth, reach = problem.image[2], (problem.kernel[2] - 1) * problem.window.dilation[0] + 1
    return problem.rank == 3 and problem.window.pads[0][0] > 0 and depth < reach + problem.window.stride[0]


def kind_of(problem: Problem) -> str:
    """A pointwise kernel has one tap, a stem at most four input channels."""
    inputs, *taps = problem.kernel[1:]
    if problem.window.groups > 1:
        return "depthwise" if inputs == 1 else "grouped"
    if math.prod(taps) == 1:
        return "pointwise"
    return "stem" if inputs <= 4 else "dense"


def macs_of(problem: Problem) -> float:
    return math.prod(problem.out) * math.prod(problem.kernel[1:])


def _is_in(problem: Problem, row: Row) -> bool:
    return (
        problem.dtype in row.dtypes
        and kind_of(problem) in row.kinds.split()
        and row.rank in (None, problem.rank)
        and row.channels_last in (None, problem.channels_last)
        and macs_of(problem) >= row.least_macs
    )

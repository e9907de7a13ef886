"""Convolutions of PyTorch tensors by convgrad: their numbers as a problem string, their memory as buffers."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import torch

from ._core import BufferPlan
from ._libraries import current_stream

#: convgrad's names of PyTorch's element types.
DTYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}
CHANNELS_LAST = {2: torch.channels_last, 3: torch.channels_last_3d}


class Window(NamedTuple):
    """What a convolution has beside its tensors; one entry a spatial dimension."""

    stride: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]  #: zeros before and behind
    dilation: tuple[int, ...]
    groups: int


class Problem(NamedTuple):
    """One convolution of rank 2 or 3, sizes in PyTorch's order."""

    image: tuple[int, ...]  #: (n, c_in, spatial...)
    kernel: tuple[int, ...]  #: (c_out, c_in / groups, spatial...)
    out: tuple[int, ...]  #: (n, c_out, spatial...); empty: what the forward op gives
    window: Window
    dtype: torch.dtype
    channels_last: bool  #: of the images in memory
    gpu: int | None = None  #: that has the tensors in its memory; None: the host has

    @property
    def rank(self) -> int:
        return len(self.kernel) - 2

    @property
    def memory_format(self) -> torch.memory_format:
        return CHANNELS_LAST[self.rank] if self.channels_last else torch.contiguous_format


def gpu_of(tensor: torch.Tensor) -> int | None:
    return tensor.device.index if tensor.is_cuda else None


def forward(problem: Problem, image: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    plan = _plan(problem, "forward")
    n, *sizes = plan.result_shape
    channels = sizes.pop() if problem.channels_last else sizes.pop(0)
    result = _new(problem, (n, channels, *sizes), image)
    _run(problem, plan, _in_format(problem, image), _as_filter(kernel), result)
    return result


def input_gradient(problem: Problem, kernel: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    result = _new(problem, problem.image, out)
    _run(problem, _plan(problem, "input_grad"), _as_filter(kernel), _in_format(problem, out), result)
    return result


def filter_gradient(problem: Problem, image: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    outputs, inputs, *sizes = problem.kernel
    found = out.new_empty((*sizes, inputs, outputs))
    _run(problem, _plan(problem, "filter_grad"), _in_format(problem, image), _in_format(problem, out), found)
    return _new(problem, problem.kernel, out).copy_(found.permute(-1, -2, *range(problem.rank)))


@functools.lru_cache(maxsize=4096)
def _plan(problem: Problem, direction: str) -> BufferPlan:
    return BufferPlan(problem_text(problem, direction), problem.gpu)


def problem_text(problem: Problem, direction: str) -> str:
    """In convgrad's grammar: n2c16h9w9_k8r3s3_..._filter_grad."""
    window, rank = problem.window, problem.rank
    parts = [
        f"n{problem.image[0]}c{problem.image[1]}" + _lettered("dhw"[-rank:], problem.image[2:]),
        f"k{problem.kernel[0]}" + _lettered("trs"[-rank:], problem.kernel[2:]),
        "st" + _joined(window.stride),
        "di" + _joined(window.dilation),
        "pad" + "x".join(f"{before}.{after}" for before, after in window.pads),
        f"g{window.groups}",
        "chlast" if problem.channels_last else "chfirst",
        DTYPES.get(problem.dtype, str(problem.dtype)),
        direction,
    ]
    if problem.out:
        parts.insert(-1, "out" + _joined(problem.out[2:]))
    return "_".join(parts)


def _lettered(letters: str, sizes: Sequence[int]) -> str:
    return "".join(f"{letter}{size}" for letter, size in zip(letters, sizes))


def _joined(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))


def _new(problem: Problem, sizes: Sequence[int], beside: torch.Tensor) -> torch.Tensor:
    return torch.empty(tuple(sizes), dtype=problem.dtype, device=beside.device, memory_format=problem.memory_format)


def _in_format(problem: Problem, image: torch.Tensor) -> torch.Tensor:
    return image.contiguous(memory_format=problem.memory_format)


def _as_filter(kernel: torch.Tensor) -> torch.Tensor:
    """(spatial..., c_in / groups, c_out), contiguous."""
    return kernel.permute(*range(2, kernel.dim()), 1, 0).contiguous()


def _run(problem: Problem, plan: BufferPlan, first: torch.Tensor, second: torch.Tensor, result: torch.Tensor) -> None:
    """On the host with as many threads as PyTorch may use: the bits do not depend on them.

    On a GPU the work is added to PyTorch's current stream. What PyTorch's allocator gets back while that work waits it
    gives to none but later work of the same stream.
    """
    buffers = _buffer(first), _buffer(second), _buffer(result)
    if problem.gpu is None:
        plan.run(*buffers, torch.get_num_threads())
        return
    workspace = result.new_empty(plan.workspace_bytes, dtype=torch.uint8)
    plan.enqueue(*buffers, _buffer(workspace), current_stream(result))


def _buffer(tensor: torch.Tensor) -> tuple[int, int]:
    return tensor.data_ptr(), tensor.nbytes

"""aten::convolution_backward: some gradients by convgrad, the others by the kernel that was there before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from . import _torch_cells, errors
from ._torch_run import DTYPES, Problem, Window, filter_gradient, forward, gpu_of, input_gradient
from ._torch_stats import count

#: Of input, weight and bias; None for what is not there.
Gradients = tuple[Any, Any, Any]


class Call(NamedTuple):
    """The op's arguments, in its order."""

    grad_output: torch.Tensor
    input: torch.Tensor
    weight: torch.Tensor
    bias_sizes: Sequence[int] | None
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    transposed: bool
    output_padding: Sequence[int]
    groups: int
    output_mask: Sequence[bool]


class Kernel:
    def __init__(self, original: Any) -> None:
        self.original = original

    def __call__(self, keyset: Any, *arguments: Any) -> Gradients:
        call = Call(*arguments)
        mine = self._gradients(call)
        rest = [wanted and gradient is None for wanted, gradient in zip(call.output_mask, mine)]
        if not any(rest):
            return mine
        count("original")
        theirs = self.original.call_boxed(keyset, *arguments[:-1], rest)
        dx, dw, db = (b if a is None else a for a, b in zip(mine, theirs))
        return dx, dw, db

    def _gradients(self, call: Call) -> Gradients:
        """None for what is not convgrad's."""
        if not _is_plain(call):
            return None, None, None
        flat = _with_height(call)
        problem = _problem(flat)
        names = _torch_cells.taken(problem)
        wanted = [m and name in names for name, m in zip(("input", "filter"), call.output_mask)]
        if not any(wanted):
            return None, None, None
        try:
            dx, dw = _compute(flat, problem, wanted)
        except (errors.ConvgradError, torch.OutOfMemoryError):  # of a GPU: the original may need less
            count("refused")
            return None, None, None
        count("convgrad")
        if call.weight.dim() == 3:
            dx, dw = (gradient if gradient is None else gradient.squeeze(2) for gradient in (dx, dw))
        # oneDNN computes filter and bias gradients together, asked for or not: with the one goes the other.
        bias = call.output_mask[2] and wanted[1] == call.output_mask[1]
        return dx, dw, _bias_gradient(call.grad_output) if bias else None


def _is_plain(call: Call) -> bool:
    """Three tensors of one device, element type and rank that agree in batch and channels; other calls are the
    original's."""
    dy, x, w = call.grad_output, call.input, call.weight
    if not x.device == w.device == dy.device:
        return False
    if not (x.dtype in DTYPES and x.dtype == w.dtype == dy.dtype and 3 <= w.dim() <= 5):
        return False
    outputs = w.shape[1] * call.groups if call.transposed else w.shape[0]
    return x.dim() == w.dim() == dy.dim() and dy.shape[:2] == (x.shape[0], outputs)


def _with_height(call: Call) -> Call:
    """1-D as 2-D of height 1, as the original does it."""
    if call.weight.dim() != 3:
        return call
    return call._replace(
        grad_output=call.grad_output.unsqueeze(2),
        input=call.input.contiguous().unsqueeze(2),
        weight=call.weight.unsqueeze(2),
        stride=[1, *call.stride],
        padding=[0, *call.padding],
        dilation=[1, *call.dilation],
        output_padding=[0, *call.output_padding],
    )


def _problem(call: Call) -> Problem:
    """A transposed convolution is the input gradient of the one whose image is its output."""
    image, out = (call.grad_output, call.input) if call.transposed else (call.input, call.grad_output)
    pads = tuple((p, p) for p in call.padding)
    window = Window(tuple(call.stride), pads, tuple(call.dilation), call.groups)
    channels_last = _memory_format(call) != torch.contiguous_format
    return Problem(image.shape, call.weight.shape, out.shape, window, image.dtype, channels_last, gpu_of(image))


def _memory_format(call: Call) -> torch.memory_format:
    """What the original's results have: compiled programs insist on their strides."""
    backend = torch._C._select_conv_backend(
        call.input,
        call.weight,
        None,
        call.stride,
        call.padding,
        call.dilation,
        call.transposed,
        call.output_padding,
        call.groups,
        call.bias_sizes,
    )
    return torch._C._conv_determine_backend_memory_format(call.input, call.weight, backend)


def _compute(call: Call, problem: Problem, wanted: Sequence[bool]) -> tuple[torch.Tensor | None, ...]:
    dy, x, w = call.grad_output, call.input, call.weight
    image, out = (dy, x) if call.transposed else (x, dy)
    dx = dw = None
    if wanted[0]:
        dx = forward(problem, dy, w) if call.transposed else input_gradient(problem, w, dy)
    if wanted[1]:
        dw = filter_gradient(problem, image, out)
    return dx, dw


def _bias_gradient(grad_output: torch.Tensor) -> torch.Tensor:
    return grad_output.sum((0, *range(2, grad_output.dim())))

"""Random calls of aten::convolution_backward, and what their results may differ by."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
Tensors = Sequence[torch.Tensor]
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}
# Unit roundoff of an element and of the type that sums are kept in.
ROUNDOFF = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
SUM_ROUNDOFF = {dtype: min(u, 2.0**-24) for dtype, u in ROUNDOFF.items()}
SMALLEST = {torch.float16: 2.0**-24}  # a 16-bit result may round to a multiple of this


@dataclass
class Call:
    dy: torch.Tensor
    x: torch.Tensor
    w: torch.Tensor
    bias_sizes: list[int]
    window: tuple[object, ...]  # stride, padding, dilation, transposed, output_padding, groups
    mask: list[bool]

    def run(self, change: object = None) -> tuple[torch.Tensor | None, ...]:
        tensors = [t if change is None else change(t) for t in (self.dy, self.x, self.w)]
        return torch.ops.aten.convolution_backward(*tensors, self.bias_sizes, *self.window, self.mask)

    def length(self) -> int:
        """No sum of the call is longer."""
        return max(self.w.numel(), self.x.numel(), self.dy.numel())


def random_call(seed: int, dtype: torch.dtype, transposed: bool = False) -> Call:
    draw = random.Random(seed)
    torch.manual_seed(seed)
    while True:
        call = _drawn(draw, dtype, transposed)
        if call is not None:
            return call


def _drawn(draw: random.Random, dtype: torch.dtype, transposed: bool) -> Call | None:
    rank = draw.choice([1, 2, 3])

    def numbers(low: int, high: int) -> list[int]:
        return [draw.randint(low, high) for _ in range(rank)]

    groups, ins, outs = draw.choice([1, 1, 2, 3]), draw.choice([1, 2, 4, 16]), draw.choice([1, 2, 5, 16])
    stride, padding, dilation = numbers(1, 3), numbers(0, 2), numbers(1, 2)
    more = [draw.randint(0, s - 1) if transposed else 0 for s in stride]
    x = _laid(draw, torch.randn(draw.randint(1, 3), groups * (outs if transposed else ins), *numbers(3, 9)))
    w = _laid(draw, torch.randn(groups * outs, ins, *numbers(1, 3)))
    window = (stride, padding, dilation, transposed, more, groups)
    try:
        y = torch.ops.aten.convolution(x.double(), w.double(), None, *window)
    except RuntimeError:  # no output
        return None
    mask = draw.choice([[True, True, True], [True, False, False], [False, True, True], [True, True, False]])
    dy = _laid(draw, torch.randn(y.shape))
    return Call(dy.to(dtype), x.to(dtype), w.to(dtype), [y.shape[1]], window, mask)


def _laid(draw: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    """Contiguous, channels last, or neither."""
    way = draw.choice(["first", "first", "last", "turned"])
    if way == "last" and tensor.dim() in LAST:
        return tensor.contiguous(memory_format=LAST[tensor.dim()])
    if way == "turned":
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    return tensor


def assert_right(call: Call, results: tuple[torch.Tensor | None, ...]) -> None:
    """Against PyTorch's own kernel in double: roundoff of the element, and of a sum of so many terms."""
    exact = call.run(torch.Tensor.double)
    terms = call.run(lambda t: t.double().abs())
    for wanted, got, right, magnitude in zip(call.mask, results, exact, terms):
        if not wanted:
            continue
        bound = tolerance(got.dtype, call.length(), right, magnitude)
        assert got.shape == right.shape
        assert ((got.double() - right).abs() <= bound).all()


def tolerance(dtype: torch.dtype, length: int, right: torch.Tensor, magnitude: torch.Tensor) -> torch.Tensor:
    return right.abs() * ROUNDOFF[dtype] + magnitude * (2 * length * SUM_ROUNDOFF[dtype]) + SMALLEST.get(dtype, 0.0)


def assert_close(found: Tensors, wanted: Tensors, terms: int, roundings: int = 1) -> None:
    """The same sums of at most so many terms in two orders, with so many elements stored on the way."""
    for a, b in zip(found, wanted):
        bound = (2 * terms * SUM_ROUNDOFF[b.dtype] + roundings * ROUNDOFF[b.dtype]) * b.abs().max()
        assert a.shape == b.shape
        assert ((a - b).abs() <= bound).all()


def strides_that_matter(tensor: torch.Tensor) -> list[int]:
    """A dimension of one element has no stride to speak of."""
    return [stride for stride, size in zip(tensor.stride(), tensor.shape) if size > 1]

"""convgrad.torch.Conv1d, Conv2d, Conv3d: PyTorch's modules, all by convgrad."""

from __future__ import annotations

import pytest
import torch
from torch_problems import assert_close

import convgrad.torch
from convgrad.errors import ArgumentTypeError, InvalidArgumentError

SIZES = {1: (2, 4, 9), 2: (2, 4, 7, 6), 3: (2, 4, 4, 5, 4)}
OPTIONS = [
    {"padding": 1, "stride": 2},
    {"padding": "same", "dilation": 2},
    {"groups": 2, "bias": False},
    {"groups": 4, "padding": "valid"},
    {"padding": 1, "padding_mode": "circular"},
]


def pair(rank: int, options: dict) -> tuple[torch.nn.Module, torch.nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    ours = getattr(convgrad.torch, f"Conv{rank}d")(4, 4, (2, 3, 3)[-rank:], dtype=torch.double, **options)
    theirs = getattr(torch.nn, f"Conv{rank}d")(4, 4, (2, 3, 3)[-rank:], dtype=torch.double, **options)
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs, torch.randn(SIZES[rank], dtype=torch.double, requires_grad=True)


def gradients(module: torch.nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.autograd.grad(module(x).square().sum(), [x, *module.parameters()])


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_module_is_pytorchs(rank: int, options: dict) -> None:
    ours, theirs, x = pair(rank, options)
    assert isinstance(ours, type(theirs))
    assert_close([ours(x), ours(x[0])], [theirs(x), theirs(x[0])], terms=ours.weight.numel())
    assert_close(gradients(ours, x), gradients(theirs, x), terms=2 * x.numel())
    assert convgrad.torch.stats()["modules"] == 5
    assert convgrad.torch.stats()["convgrad"] == 0


@pytest.mark.parametrize("options", OPTIONS[:3])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_first_and_second_derivatives(rank: int, options: dict) -> None:
    ours, _, x = pair(rank, options)
    x = x.detach()[:1, ..., :4].requires_grad_()

    def called(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(ours, {"weight": weight}, x)

    weight = ours.weight.detach().requires_grad_()
    assert torch.autograd.gradcheck(called, (x, weight), fast_mode=True)
    assert torch.autograd.gradgradcheck(called, (x, weight), fast_mode=True)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_vmap_of_a_gradient(rank: int) -> None:
    ours, theirs, x = pair(rank, {"padding": 1})
    x = x.detach()
    found, wanted = (
        torch.func.vmap(torch.func.grad(lambda sample, m=module: m(sample).square().sum()))(x)
        for module in (ours, theirs)
    )
    assert_close(found, wanted, terms=2 * x.numel())


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_compiled_in_one_graph(rank: int) -> None:
    ours, theirs, x = pair(rank, {"padding": 1, "stride": 2})
    compiled = torch.compile(ours, backend="aot_eager", fullgraph=True)
    assert_close(gradients(compiled, x), gradients(theirs, x), terms=2 * x.numel())


def test_the_op_is_one_that_pytorch_accepts() -> None:
    x, w = torch.randn(2, 4, 5, 6), torch.randn(6, 2, 3, 3)
    torch.library.opcheck(torch.ops.convgrad.convolution, (x, w, "out", [], [1, 2, 1, 1, 0, 1, 2, 2, 2]))
    last = x.contiguous(memory_format=torch.channels_last)
    torch.library.opcheck(torch.ops.convgrad.convolution, (last, w, "out", [], [1, 2, 1, 1, 0, 1, 2, 2, 2]))


def test_channels_last_stay_channels_last() -> None:
    ours, _, _ = pair(3, {"padding": 1})
    x = torch.randn(2, 4, 4, 5, 4, dtype=torch.double).contiguous(memory_format=torch.channels_last_3d)
    assert ours(x).is_contiguous(memory_format=torch.channels_last_3d)


def test_autocast_gives_bfloat16() -> None:
    ours = convgrad.torch.Conv2d(4, 4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        y = ours(torch.randn(1, 4, 6, 6))
    assert y.dtype == torch.bfloat16
    y.sum().backward()
    assert ours.weight.grad.dtype == torch.float32


def test_refusals_are_sentences() -> None:
    layer = convgrad.torch.Conv2d(4, 4, 3)
    with pytest.raises(InvalidArgumentError, match="input: got 6 channels, wanted 4"):
        layer(torch.randn(1, 6, 5, 5))
    with pytest.raises(ArgumentTypeError, match=r"float64 and torch\.float32"):
        layer(torch.randn(1, 4, 5, 5, dtype=torch.double))
    with pytest.raises(InvalidArgumentError):
        layer(torch.randn(4, 5))

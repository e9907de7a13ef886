"""Values, strides and masks of the op that is taken over, against PyTorch's own kernel."""

from __future__ import annotations

import pytest
import torch
from torch_problems import DTYPES, Call, assert_close, assert_right, random_call, strides_that_matter

import convgrad.torch


def native(call: Call) -> tuple[torch.Tensor | None, ...]:
    convgrad.torch.uninstall()
    results = call.run()
    convgrad.torch.install()
    return results


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(12))
def test_random_gradients_are_right(every_cell: None, seed: int, dtype: torch.dtype, transposed: bool) -> None:
    call = random_call(seed, dtype, transposed)
    results = call.run()
    assert convgrad.torch.stats() == {"convgrad": 1, "original": 0, "refused": 0, "modules": 0}
    convgrad.torch.uninstall()
    assert_right(call, results)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(12, 24))
def test_strides_are_those_of_the_original(every_cell: None, seed: int, dtype: torch.dtype) -> None:
    call = random_call(seed, dtype, transposed=seed % 3 == 0)
    ours, theirs = call.run(), native(call)
    for wanted, a, b in zip(call.mask, ours, theirs):
        if wanted:
            assert strides_that_matter(a) == strides_that_matter(b)
            assert a.dtype == b.dtype


def test_what_is_not_asked_for_is_none(every_cell: None) -> None:
    call = random_call(1, torch.float32)
    for mask in ([True, False, False], [False, True, False], [True, True, False], [True, False, True]):
        call.mask = mask
        assert [result is not None for result in call.run()] == mask
    assert convgrad.torch.stats()["original"] == 0


def test_a_bias_alone_is_the_originals(every_cell: None) -> None:
    call = random_call(1, torch.float32)
    call.mask = [False, False, True]
    _, _, db = call.run()
    assert_close([db], [call.dy.sum((0, *range(2, call.dy.dim())))], terms=call.dy.numel())
    assert convgrad.torch.stats()["convgrad"] == 0


def test_a_transposed_call_that_no_convolution_has_goes_to_the_original(every_cell: None) -> None:
    x, w = torch.randn(1, 2, 5, dtype=torch.double), torch.randn(2, 3, 3, dtype=torch.double)
    window = ([1], [0], [2], True, [1], 1)  # PyTorch takes an output_padding below the dilation
    dy = torch.randn_like(torch.ops.aten.convolution(x, w, None, *window))
    call = Call(dy, x, w, [3], window, [True, True, True])
    results = call.run()
    assert convgrad.torch.stats() == {"convgrad": 0, "original": 1, "refused": 1, "modules": 0}
    convgrad.torch.uninstall()
    for got, wanted in zip(results, call.run()):
        assert torch.equal(got, wanted)


def test_complex_convolutions_come_as_real_ones(every_cell: None) -> None:
    w = torch.randn(3, 2, 3, 3, dtype=torch.complex128)
    x = torch.randn(1, 2, 5, 5, dtype=torch.complex128, requires_grad=True)

    def gradient() -> torch.Tensor:
        return torch.autograd.grad(torch.nn.functional.conv2d(x, w).abs().sum(), x)[0]

    ours = gradient()
    assert convgrad.torch.stats()["convgrad"] > 0
    convgrad.torch.uninstall()
    parts = [torch.view_as_real(each) for each in (ours, gradient())]
    assert_close(parts[:1], parts[1:], terms=2 * w.numel())


def test_empty_batches_are_the_originals(every_cell: None) -> None:
    layer = torch.nn.Conv3d(2, 3, 3)
    layer(torch.randn(0, 2, 5, 5, 5)).sum().backward()
    assert layer.weight.grad.abs().sum() == 0
    assert convgrad.torch.stats()["convgrad"] == 0


def test_wrong_shapes_get_the_originals_error(every_cell: None) -> None:
    call = random_call(3, torch.float64)
    call.dy = call.dy[:, :0]
    with pytest.raises(RuntimeError):
        call.run()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_bits_do_not_depend_on_threads(every_cell: None, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(2, 16, 6, 20, 20, dtype=dtype), torch.randn(16, 16, 3, 3, 3, dtype=dtype)
    ones, zeros = [1] * 3, [0] * 3
    call = Call(torch.randn_like(x), x, w, [16], (ones, ones, ones, False, zeros, 1), [True, True, False])
    before, found = torch.get_num_threads(), []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found.append(call.run())
    torch.set_num_threads(before)
    assert all(torch.equal(a, b) for other in found[1:] for a, b in zip(found[0][:2], other[:2]))

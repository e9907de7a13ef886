"""What PyTorch builds on the op that is taken over."""

from __future__ import annotations

import shutil

import pytest
import torch
from torch_problems import assert_close

import convgrad.torch

functional = torch.nn.functional
CASES = [
    (functional.conv1d, (2, 4, 9), (6, 2, 3), {"groups": 2, "padding": 1}),
    (functional.conv2d, (2, 4, 6, 5), (4, 4, 3, 2), {"stride": 2, "padding": 1}),
    (functional.conv3d, (1, 3, 4, 5, 4), (3, 1, 2, 3, 2), {"groups": 3, "dilation": (1, 2, 1), "padding": 1}),
    (functional.conv_transpose2d, (1, 4, 4, 3), (4, 2, 3, 3), {"stride": 2, "output_padding": 1, "padding": 1}),
]


def operands(x: tuple[int, ...], w: tuple[int, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return (
        torch.randn(x, dtype=torch.double, requires_grad=True),
        torch.randn(w, dtype=torch.double, requires_grad=True),
    )


def only_ours() -> bool:
    counts = convgrad.torch.stats()
    return counts["convgrad"] > 0 and counts["original"] == 0


@pytest.mark.parametrize(("conv", "x", "w", "options"), CASES)
def test_gradcheck_and_gradgradcheck(every_cell: None, conv: object, x: object, w: object, options: dict) -> None:
    tensors = operands(x, w)
    assert torch.autograd.gradcheck(lambda a, b: conv(a, b, **options), tensors)
    assert torch.autograd.gradgradcheck(lambda a, b: conv(a, b, **options), tensors, fast_mode=True)
    assert only_ours()


@pytest.mark.parametrize(("conv", "x", "w", "options"), CASES)
def test_gradients_of_every_sample_by_vmap(every_cell: None, conv: object, x: object, w: object, options: dict) -> None:
    image, kernel = (t.detach() for t in operands((3, *x[1:]), w))

    def loss(sample: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
        return conv(sample.unsqueeze(0), kernel, **options).square().sum()

    each = torch.func.vmap(torch.func.grad(loss, argnums=1), (0, None))(image, kernel)
    assert only_ours()
    convgrad.torch.uninstall()
    wanted = [torch.func.grad(loss, argnums=1)(sample, kernel) for sample in image]
    assert_close(each, wanted, terms=image.numel() + kernel.numel())


def test_torch_nn_grad(every_cell: None) -> None:
    x, w = (t.detach() for t in operands((2, 4, 6, 5), (4, 4, 3, 3)))
    dy = torch.randn(2, 4, 6, 5, dtype=torch.double)
    found = torch.nn.grad.conv2d_weight(x, w.shape, dy, padding=1)
    assert only_ours()
    convgrad.torch.uninstall()
    assert_close([found], [torch.nn.grad.conv2d_weight(x, w.shape, dy, padding=1)], terms=dy.numel())


@pytest.mark.parametrize("options", [{"padding_mode": "circular", "padding": 1}, {"bias": False}, {"padding": "same"}])
def test_layers_unbatched_too(every_cell: None, options: dict) -> None:
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(3, 4, 3, dtype=torch.double, **options)

    def gradients(image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(layer(image).square().sum(), list(layer.parameters()))

    images = [torch.randn(2, 3, 6, 7, dtype=torch.double), torch.randn(3, 6, 7, dtype=torch.double)]
    found = [gradients(image) for image in images]
    assert only_ours()
    convgrad.torch.uninstall()
    for image, ours in zip(images, found):
        assert_close(ours, gradients(image), terms=2 * image.numel())


def backends() -> list[str]:
    return ["aot_eager", "inductor"] if shutil.which("g++") else ["aot_eager"]


@pytest.mark.parametrize("order", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("dtype", [torch.float32, torch.double, torch.bfloat16])
@pytest.mark.parametrize("backend", backends())
def test_compiled_models(every_cell: None, backend: str, dtype: torch.dtype, order: torch.memory_format) -> None:
    """Inductor's code asserts the strides that it expects."""
    torch.manual_seed(0)
    layers = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3, groups=8, stride=2)
    model = torch.nn.Sequential(*layers).to(dtype=dtype, memory_format=order)
    x = torch.randn(2, 3, 9, 9, dtype=dtype).contiguous(memory_format=order).requires_grad_()
    wanted = torch.autograd.grad(model(x).square().sum(), [x, *model.parameters()])
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend)
    convgrad.torch.reset_stats()
    found = torch.autograd.grad(compiled(x).square().sum(), [x, *model.parameters()])
    assert only_ours()
    assert convgrad.torch.stats()["convgrad"] == 2
    assert_close(found, wanted, terms=8 * x.numel(), roundings=8)  # the compiler fuses and reorders

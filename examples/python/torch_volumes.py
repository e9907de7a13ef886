"""Two models of volumes that PyTorch trains wrongly or slowly on the CPU, before and after convgrad.torch.install().

python examples/python/torch_volumes.py

1. A bfloat16 model of slabs two voxels deep: PyTorch (oneDNN) leaves parts of the filter gradients unwritten, so the
   weights become whatever lay in memory.
2. A float64 model of 3-D separable convolutions: PyTorch's own loops take most of the step.
"""

from __future__ import annotations

import time

import torch
from torch import nn

import convgrad.torch


def slab_model() -> nn.Sequential:
    torch.manual_seed(0)
    layers = [nn.Conv3d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv3d(16, 16, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv3d(16, 1, 1))


def separable_model(conv: type[nn.Conv3d]) -> nn.Sequential:
    torch.manual_seed(0)
    block = [conv(32, 32, 3, padding=1, groups=32), conv(32, 32, 1), nn.ReLU()]
    return nn.Sequential(conv(1, 32, 3, padding=1), nn.ReLU(), *block, conv(32, 1, 1)).double()


def train(model: nn.Sequential, volumes: torch.Tensor, steps: int) -> tuple[list[float], float]:
    """The losses of a model that learns to smooth, and the best step's seconds."""
    target = nn.functional.avg_pool3d(volumes.double(), (1, 3, 3), stride=1, padding=(0, 1, 1)).to(volumes.dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses, best = [], float("inf")
    for _ in range(steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = (model(volumes) - target).float().square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        best = min(best, time.perf_counter() - start)
    return losses, best


def filter_gradient_error(dtype: torch.dtype) -> float:
    """Worst error of a middle layer's filter gradient, relative to its largest entry, against float64."""

    def gradient(dtype: torch.dtype) -> torch.Tensor:
        model = slab_model().to(dtype)
        model(slabs().to(dtype)).float().square().mean().backward()
        return model[2].weight.grad.double()

    exact = gradient(torch.double)
    return ((gradient(dtype) - exact).abs().max() / exact.abs().max()).item()


def slabs() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(4, 1, 2, 24, 24)


def show_slabs() -> None:
    error = filter_gradient_error(torch.bfloat16)
    losses, _ = train(slab_model().bfloat16(), slabs().bfloat16(), 20)
    print(f"  bfloat16 slabs: filter gradient off by {error:.1e}, loss {losses[0]:.3f} -> {losses[-1]:.3f}")


def show_separable(conv: type[nn.Conv3d]) -> None:
    torch.manual_seed(2)
    losses, seconds = train(separable_model(conv), torch.randn(1, 1, 24, 24, 24, dtype=torch.double), 4)
    print(f"  float64 separable: {seconds * 1e3:.0f} ms a step, loss {losses[0]:.4f} -> {losses[-1]:.4f}")


def main() -> None:
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, its own kernels:")
    show_slabs()
    show_separable(nn.Conv3d)
    print("gradients by convgrad, the model unchanged:")
    with convgrad.torch.enabled():
        show_slabs()
        show_separable(nn.Conv3d)
    print("forward too, by convgrad.torch.Conv3d:")
    show_separable(convgrad.torch.Conv3d)
    print(convgrad.torch.stats())


if __name__ == "__main__":
    main()

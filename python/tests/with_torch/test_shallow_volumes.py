"""Volumes that a padded kernel overhangs: PyTorch 2.15 (oneDNN) returns old memory as parts of their filter gradients.

Its own kernel is not run here in these types: some of these cases end the process.
"""

from __future__ import annotations

import pytest
import torch
from torch_problems import Call, assert_right

import convgrad.torch

# depth, kernel depth, padding, stride
BF16_WRONG = [(2, 3, 1, 1), (1, 3, 2, 1), (2, 3, 2, 2), (1, 5, 3, 1), (2, 5, 3, 1), (3, 5, 3, 2), (4, 5, 1, 1)]
F32_WRONG = [(2, 5, 4, 2), (3, 5, 3, 2), (5, 5, 3, 2), (4, 4, 3, 2), (6, 5, 4, 3), (9, 7, 5, 4)]
CASES = [(torch.bfloat16, *c) for c in BF16_WRONG] + [(torch.float32, *c) for c in F32_WRONG]


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(("dtype", "depth", "taps", "padding", "stride"), CASES)
def test_filter_gradient_of_a_shallow_volume(
    dtype: torch.dtype, depth: int, taps: int, padding: int, stride: int, channels_last: bool
) -> None:
    torch.manual_seed(0)
    order = torch.channels_last_3d if channels_last else torch.contiguous_format
    x = torch.randn(2, 16, depth, 5, 5).to(dtype).contiguous(memory_format=order)
    w = torch.randn(16, 16, taps, 3, 3).to(dtype)
    out = (depth + 2 * padding - taps) // stride + 1
    window = ([stride, 1, 1], [padding, 1, 1], [1, 1, 1], False, [0, 0, 0], 1)
    call = Call(torch.randn(2, 16, out, 5, 5).to(dtype), x, w, [16], window, [False, True, False])
    with convgrad.torch.enabled():
        results = call.run()
    assert convgrad.torch.stats()["convgrad"] == 1
    assert convgrad.torch.stats()["original"] == 0
    assert_right(call, results)


def test_a_layer_with_bias_over_a_shallow_volume_leaves_no_filter_gradient_to_the_original() -> None:
    """The case that ends the process: depth 2, kernel depth 5, all three gradients asked for, the input's not ours."""
    torch.manual_seed(0)
    layer = torch.nn.Conv3d(16, 16, (5, 3, 3), padding=(4, 1, 1), stride=(2, 1, 1))
    x = torch.randn(2, 16, 2, 5, 5, requires_grad=True)
    with convgrad.torch.enabled():
        layer(x).square().sum().backward()
    assert convgrad.torch.stats()["original"] == 1
    wide = torch.nn.Conv3d(16, 16, (5, 3, 3), padding=(4, 1, 1), stride=(2, 1, 1), dtype=torch.double)
    wide.load_state_dict(layer.state_dict())
    wide(x.detach().double()).square().sum().backward()
    scale = wide.weight.grad.abs().max()
    assert (layer.weight.grad - wide.weight.grad).abs().max() <= scale * x.numel() * 2.0**-24
    assert (layer.bias.grad - wide.bias.grad).abs().max() <= wide.bias.grad.abs().max() * x.numel() * 2.0**-24

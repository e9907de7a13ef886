"""Where peers are wrong. Each has a name, and a problem that is a regression test of ours (python/tests/data).

Found by the definition on exact integers, and settled by a second peer. A fault need not show on every CPU: oneDNN
chooses kernels by instruction set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from problems import Cell, Problem, make_layer

TENSORFLOW = ("TF-stock", "TF-oneDNN")
ONEDNN = ("TF-oneDNN", "PyTorch")


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    peers: tuple[str, ...]
    why: str
    where: Callable[[Problem], bool]
    example: Problem


def of(op: str, dtype: str, shape: dict[str, Any], layout: str = "last") -> Problem:
    layer = make_layer({"N": 1, "Cin": 1, "Cout": 1, "pad": "VALID", **shape})
    return Problem(Cell(op, dtype, layout, max(layer.dilation) > 1, layer.groups > 1), layer)


def spans(problem: Problem) -> list[int]:
    """The filter's extent with its holes."""
    return [(k - 1) * d + 1 for k, d in zip(problem.layer.filter, problem.layer.dilation)]


def stride_leaves_a_rest(problem: Problem) -> bool:
    layer = problem.layer
    ends = [(o - 1) * s + e for o, s, e in zip(layer.out, layer.stride, spans(problem))]
    return problem.padding == "SAME" and any(end < size for end, size in zip(ends, layer.size))


def is_empty(problem: Problem) -> bool:
    return min(problem.layer.out) == 0


FAULTS = [
    Fault(
        "gradients_of_dilated_depthwise_convolutions",
        TENSORFLOW,
        "the depthwise gradient kernels do not look at dilations",
        lambda p: p.op.family == "depthwise" and p.op.direction != "forward" and p.cell.dilated,
        of(
            "DepthwiseConv2dNativeBackpropFilter",
            "f32",
            {"spatial": [5, 5], "Cin": 2, "Cout": 2, "groups": 2, "kernel": [3, 3], "dilation": [2, 2], "pad": "SAME"},
        ),
    ),
    Fault(
        "input_gradient_of_a_dilated_depthwise_convolution",
        TENSORFLOW,
        "the same, in the gradient of the input",
        lambda p: False,
        of(
            "DepthwiseConv2dNativeBackpropInput",
            "f32",
            {"spatial": [5, 5], "Cin": 2, "Cout": 4, "groups": 2, "kernel": [3, 3], "dilation": [2, 2], "pad": "SAME"},
        ),
    ),
    Fault(
        "images_of_one_channel_convolved_into_one_column",
        ONEDNN,
        "oneDNN's brg_conv_fwd, channels last, steps over the width by the stride and reads past the end of the input",
        lambda p: (
            p.op.direction == "forward" and p.layer.group_c_in == 1 and p.layer.out[-1] == 1 and p.layer.stride[-1] > 1
        ),
        of("Conv2D", "f32", {"N": 2, "Cout": 2, "spatial": [6, 5], "kernel": [2, 4], "stride": [1, 3]}),
    ),
    Fault(
        "filter_gradient_of_a_volume_shallower_than_the_filter",
        ONEDNN,
        "oneDNN leaves depth taps unwritten or wrong where the filter is deeper than the volume",
        lambda p: p.op == ("conv", 3, "filter") and any(e > n for e, n in zip(spans(p), p.layer.size)),
        of(
            "Conv3DBackpropFilterV2",
            "bf16",
            {"spatial": [2, 3, 3], "Cin": 2, "Cout": 3, "kernel": [3, 1, 2], "pad": "SAME"},
        ),
    ),
    Fault(
        "filter_gradient_of_a_shallow_volume_with_16_channels",
        ONEDNN,
        "the same, in the blocks of 16 channels of the bf16 kernels",
        lambda p: False,
        of(
            "Conv3DBackpropFilterV2",
            "bf16",
            {"spatial": [2, 3, 3], "Cin": 16, "Cout": 16, "kernel": [3, 1, 1], "pad": "SAME"},
        ),
    ),
    Fault(
        "volumes_convolved_with_a_stride_that_leaves_a_rest",
        TENSORFLOW,
        "the stock Conv3D kernel pads otherwise than its own gradients where SAME needs no padding",
        lambda p: p.cell.op == "Conv3D" and stride_leaves_a_rest(p),
        of("Conv3D", "f32", {"spatial": [7, 5, 5], "kernel": [1, 2, 2], "stride": [4, 3, 3], "pad": "SAME"}),
    ),
    Fault(
        "filter_gradient_of_an_empty_out_backprop",
        ("TF-stock", "TF-XLA"),
        "uninitialised memory is returned",
        lambda p: p.cell.op == "Conv2DBackpropFilter" and is_empty(p),
        of("Conv2DBackpropFilter", "f32", {"spatial": [2, 2], "Cin": 2, "kernel": [3, 3]}),
    ),
    Fault(
        "filter_gradient_of_an_empty_volume",
        ("TF-stock", "TF-XLA"),
        "the same in 3-D",
        lambda p: p.cell.op == "Conv3DBackpropFilterV2" and is_empty(p),
        of("Conv3DBackpropFilterV2", "f32", {"spatial": [2, 2, 2], "kernel": [3, 3, 3]}),
    ),
    Fault(
        "input_gradient_without_output_channels",
        ("TF-stock",),
        "3-D: a division by zero, with a batch of two or more; else uninitialised memory is returned",
        lambda p: p.cell.op == "Conv3DBackpropInputV2" and p.layer.c_out == 0,
        of("Conv3DBackpropInputV2", "f32", {"N": 2, "spatial": [3, 3, 3], "kernel": [2, 2, 2], "Cout": 0}),
    ),
    Fault(
        "an_empty_batch_of_images",
        ("TF-oneDNN",),
        "the forward ops give the shape of the input",
        lambda p: p.op.direction == "forward" and (p.layer.n == 0 or is_empty(p)),
        of("Conv2D", "f32", {"N": 0, "spatial": [4, 4], "kernel": [3, 3], "Cout": 3}),
    ),
    Fault(
        "images_smaller_than_the_filter",
        ("TF-oneDNN",),
        "the same, where the result has no rows",
        lambda p: False,
        of("Conv2D", "f32", {"spatial": [2, 4], "kernel": [3, 3], "Cout": 3}),
    ),
]


def fault_of(peer: str, problem: Problem) -> Fault | None:
    """The named fault that explains a wrong result."""
    for fault in FAULTS:
        if peer in fault.peers and (fault.where(problem) or fault.example is problem):
            return fault
    return None

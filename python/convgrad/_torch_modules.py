"""Layers whose forward op and gradients are all convgrad's.

A convolution is a form that is linear in each of image, kernel and out. Each op leaves one of the three open and takes
the other two; its derivatives leave those open. So one op is closed under differentiation, to any order.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import errors
from ._torch_run import CHANNELS_LAST, Problem, Window, filter_gradient, forward, gpu_of, input_gradient
from ._torch_stats import count

_COMPUTE = {"image": input_gradient, "kernel": filter_gradient, "out": forward}
_TAKES = {"image": ("kernel", "out"), "kernel": ("image", "out"), "out": ("image", "kernel")}


def _convolution(first: Tensor, second: Tensor, open: str, size: list[int], window: list[int]) -> Tensor:
    """The open tensor, of this size; an empty size for out's: what follows from the others. See Window."""
    count("modules")
    _check(first, second)
    given = dict(zip(_TAKES[open], (first, second)))
    sizes = {name: tuple(tensor.shape) for name, tensor in given.items()} | {open: tuple(size)}
    _check_channels(sizes, window[-1])
    problem = Problem(
        **sizes,
        window=_window(window),
        dtype=first.dtype,
        channels_last=_channels_last(given),
        gpu=gpu_of(first),
    )
    return _COMPUTE[open](problem, first, second)


def _check(first: Tensor, second: Tensor) -> None:
    if first.device != second.device:
        raise errors.InvalidArgumentError(
            f"input and weight: got {first.device} and {second.device}, wanted one device"
        )
    if first.dtype != second.dtype:
        raise errors.ArgumentTypeError(f"input and weight: got {first.dtype} and {second.dtype}, wanted one type")


def _check_channels(sizes: dict[str, tuple[int, ...]], groups: int) -> None:
    """The one number that PyTorch states twice, in the weight's shape and as groups."""
    got, wanted = sizes["image"][1], sizes["kernel"][1] * groups
    if got != wanted:
        raise errors.InvalidArgumentError(
            f"input: got {got} channels, wanted {wanted}, groups times those of the weight",
            argument="input",
            got=str(got),
            wanted=str(wanted),
        )


def _window(numbers: list[int]) -> Window:
    """From stride, dilation and padding (before, behind), one entry a dimension each, and groups, in one list."""
    rank = len(numbers) // 4
    pads = zip(numbers[2 * rank : -1 : 2], numbers[2 * rank + 1 : -1 : 2])
    return Window(tuple(numbers[:rank]), tuple(pads), tuple(numbers[rank : 2 * rank]), numbers[-1])


def _channels_last(given: dict[str, Tensor]) -> bool:
    image = given["image"] if "image" in given else given["out"]
    return not image.is_contiguous() and image.is_contiguous(memory_format=CHANNELS_LAST[image.dim() - 2])


def _fake(first: Tensor, second: Tensor, open: str, size: list[int], window: list[int]) -> Tensor:
    given = dict(zip(_TAKES[open], (first, second)))
    order = CHANNELS_LAST[first.dim() - 2] if _channels_last(given) else torch.contiguous_format
    shape = size or _out_shape(first, second, _window(window))
    return torch.empty(shape, dtype=first.dtype, device=first.device, memory_format=order)


def _out_shape(image: Tensor, kernel: Tensor, window: Window) -> Any:
    """By PyTorch's own op, which knows symbolic sizes."""
    zeros = [0] * len(window.stride)
    padded = torch.nn.functional.pad(image, [n for pair in reversed(window.pads) for n in pair])
    return torch.ops.aten.convolution(
        padded, kernel, None, window.stride, zeros, window.dilation, False, zeros, window.groups
    ).shape


def _opened(tensors: dict[str, Tensor], open: str, window: list[int]) -> Tensor:
    first, second = (tensors[name] for name in _TAKES[open])
    return Convolution.apply(first, second, open, list(tensors[open].shape), window)  # type: ignore[no-any-return]


def _one_by_one(info: Any, in_dims: tuple[Any, ...], first: Tensor, second: Tensor, *rest: Any) -> tuple[Tensor, int]:
    """Under vmap."""
    pairs = ([t] * info.batch_size if dim is None else t.unbind(dim) for t, dim in zip((first, second), in_dims))
    return torch.stack([_op(a, b, *rest) for a, b in zip(*pairs)]), 0


# An op of PyTorch's, so that compilers and vmap see one node.
_op = torch.library.custom_op("convgrad::convolution", _convolution, mutates_args=(), device_types=("cpu", "cuda"))
_op.register_fake(_fake)
_op.register_vmap(_one_by_one)


class Convolution(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(first: Tensor, second: Tensor, open: str, size: list[int], window: list[int]) -> Tensor:
        result: Tensor = _op(first, second, open, size, window)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        first, second, ctx.open, _, ctx.window = inputs
        ctx.save_for_backward(first, second)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        names = _TAKES[ctx.open]
        tensors = dict(zip(names, ctx.saved_tensors)) | {ctx.open: gradient}
        found = [_opened(tensors, n, ctx.window) if ctx.needs_input_grad[i] else None for i, n in enumerate(names)]
        return (*found, None, None, None)


def _layer(module: Any, input: Tensor) -> Tensor:
    """The forward op of one of torch.nn's convolution modules."""
    weight, bias = module.weight, module.bias
    if torch.is_autocast_enabled(input.device.type):
        dtype = torch.get_autocast_dtype(input.device.type)
        input, weight = input.to(dtype), weight.to(dtype)
        bias = bias if bias is None else bias.to(dtype)
    batched = input.dim() == weight.dim()
    result: Tensor = _batched_layer(module, input if batched else input.unsqueeze(0), weight)
    if bias is not None:
        result = result + bias.view(-1, *[1] * (weight.dim() - 2))
    return result if batched else result.squeeze(0)


def _batched_layer(module: Any, image: Tensor, weight: Tensor) -> Any:
    rank = weight.dim() - 2
    pads = list(module._reversed_padding_repeated_twice)  # the last dimension first, as for torch.nn.functional.pad
    if module.padding_mode != "zeros":
        image = torch.nn.functional.pad(image, pads, mode=module.padding_mode)
        pads = [0] * len(pads)
    ordered = [n for i in reversed(range(rank)) for n in pads[2 * i : 2 * i + 2]]
    if rank > 1:
        window = [*module.stride, *module.dilation, *ordered, module.groups]
        return Convolution.apply(image, weight, "out", [], window)
    window = [1, *module.stride, 1, *module.dilation, 0, 0, *ordered, module.groups]
    return Convolution.apply(image.unsqueeze(2), weight.unsqueeze(2), "out", [], window).squeeze(2)


class Conv1d(torch.nn.Conv1d):
    """torch.nn.Conv1d with forward and gradients by convgrad."""

    def forward(self, input: Tensor) -> Tensor:
        return _layer(self, input)


class Conv2d(torch.nn.Conv2d):
    """torch.nn.Conv2d with forward and gradients by convgrad."""

    def forward(self, input: Tensor) -> Tensor:
        return _layer(self, input)


class Conv3d(torch.nn.Conv3d):
    """torch.nn.Conv3d with forward and gradients by convgrad."""

    def forward(self, input: Tensor) -> Tensor:
        return _layer(self, input)

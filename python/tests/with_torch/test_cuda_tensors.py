"""Gradients of tensors on a GPU that is none: the tests' own CUDA driver, whose memory PyTorch takes for the CPU's.

What PyTorch has for CUDA tensors is called as PyTorch calls it, but for the choice by the tensors' device. No test here
has met a GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only
from torch_problems import DTYPES, Call, assert_close, assert_right, random_call, strides_that_matter

import convgrad.torch
import host_gpu
from convgrad import _torch_backward, _torch_modules, _torch_run

pytestmark = [
    pytest.mark.skipif(not host_gpu.is_here(), reason="CONVGRAD_CUDA_DRIVER names not the tests' driver"),
    pytest.mark.skipif(not torch.version.cuda, reason="this PyTorch is built without CUDA"),
]

STREAM = 0x7700
SILENT = ("cuStreamSynchronize", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamCreate", "cuMemAllocAsync")


def moved(tensor: torch.Tensor) -> torch.Tensor:
    """The same, in the driver's memory; one that is there already stays, as one without memory."""
    storage = tensor.untyped_storage()
    if tensor.is_meta or storage.nbytes() == 0 or storage.data_ptr() in MEMORY:
        return tensor
    memory = host_gpu.Memory(storage.nbytes(), 0)
    block = (ctypes.c_byte * storage.nbytes()).from_address(memory.address.value)
    block.memory = MEMORY[memory.address.value] = memory
    there = torch.frombuffer(block, dtype=tensor.dtype)
    there.untyped_storage().copy_(storage)
    return there.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


MEMORY: dict[int, host_gpu.Memory] = {}  #: by address, for as long as a test runs


class OnGpu(TorchDispatchMode):
    """Whatever an op makes lies on the GPU."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if op is torch.ops.convgrad.convolution.default:
            with self:
                return _torch_modules._convolution(*args)
        return tree_map_only(torch.Tensor, moved, op(*args, **(kwargs or {})))


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every tensor is GPU 0's, and nothing is waited for, copied to the host, or allocated but by PyTorch."""
    for module in (_torch_backward, _torch_modules):
        monkeypatch.setattr(module, "gpu_of", lambda tensor: 0)
    monkeypatch.setattr(_torch_run, "current_stream", lambda tensor: STREAM)
    before = [host_gpu.calls(name) for name in SILENT]
    yield
    assert [host_gpu.calls(name) for name in SILENT] == before
    MEMORY.clear()


def run(call: Call) -> tuple[torch.Tensor | None, ...]:
    """By what PyTorch has for CUDA tensors."""
    kernel = torch.library.get_kernel("aten::convolution_backward", "CUDA")
    keyset = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
    with OnGpu():
        tensors = (moved(call.dy), moved(call.x), moved(call.w))
        return kernel.call_boxed(keyset, *tensors, call.bias_sizes, *call.window, call.mask)


def launches() -> int:
    return host_gpu.calls("cuLaunchKernel")


def stats(**wanted: int) -> dict[str, int]:
    return {"convgrad": 0, "original": 0, "refused": 0, "modules": 0, **wanted}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(4))
def test_random_gradients_are_right(gpu: None, seed: int, dtype: torch.dtype, transposed: bool) -> None:
    call, before = random_call(seed, dtype, transposed), launches()
    with convgrad.torch.enabled(gpu=True):
        results = run(call)
    assert convgrad.torch.stats() == stats(convgrad=1)
    assert launches() > before and host_gpu.last_stream() == STREAM
    assert_right(call, results)
    for wanted, ours, theirs in zip(call.mask, results, run(call)):
        if wanted:
            assert strides_that_matter(ours) == strides_that_matter(theirs)
            assert ours.untyped_storage().data_ptr() in MEMORY


def test_uninstalled_the_original_is_what_it_was(gpu: None) -> None:
    call = random_call(1, torch.float32)
    with convgrad.torch.enabled(gpu=True):
        run(call)
    before = launches()
    assert_right(call, run(call))
    assert convgrad.torch.stats() == stats(convgrad=1)
    assert launches() == before


def test_gpus_are_taken_over_only_by_name(gpu: None) -> None:
    call, before = random_call(1, torch.float32), launches()
    with convgrad.torch.enabled():
        run(call)
        assert launches() == before
        with convgrad.torch.enabled(gpu=True):
            run(call)
            assert launches() > before
        before = launches()
        run(call)
        assert launches() == before and convgrad.torch.installed()
    assert not convgrad.torch.installed()


def handed_over(call: Call) -> None:
    """To the original, which gives what it gives without convgrad."""
    before = launches()
    with convgrad.torch.enabled(gpu=True):
        results = run(call)
    assert launches() == before
    for ours, theirs in zip(results, run(call)):
        assert ours is theirs is None or torch.equal(ours, theirs)


def test_a_gpu_that_cannot_be_used_is_the_originals(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_torch_backward, "gpu_of", lambda tensor: 1)
    handed_over(random_call(1, torch.float64))
    assert convgrad.torch.stats() == stats(original=1, refused=1)


def test_memory_that_is_not_there_is_the_originals(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(tensor: torch.Tensor) -> int:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(_torch_run, "current_stream", full)
    handed_over(random_call(1, torch.float64))
    assert convgrad.torch.stats() == stats(original=1, refused=1)


def test_a_problem_that_the_engine_refuses_is_the_originals(gpu: None) -> None:
    x, w = torch.randn(1, 2, 5, dtype=torch.double), torch.randn(2, 3, 3, dtype=torch.double)
    window = ([1], [0], [2], True, [1], 1)  # see test_gradients.py
    dy = torch.randn_like(torch.ops.aten.convolution(x, w, None, *window))
    handed_over(Call(dy, x, w, [3], window, [True, True, True]))
    assert convgrad.torch.stats() == stats(original=1, refused=1)


def test_tensors_of_two_devices_get_the_originals_error(gpu: None) -> None:
    call = random_call(1, torch.float64)
    call.w = call.w.to("meta")
    with convgrad.torch.enabled(gpu=True), pytest.raises(RuntimeError):
        run(call)
    assert convgrad.torch.stats() == stats(original=1)


def test_the_workspace_is_pytorchs(gpu: None) -> None:
    """The fixture sees that the driver is asked for none."""
    window = _torch_run.Window((1, 1), ((1, 1), (1, 1)), (1, 1), 1)
    problem = _torch_run.Problem((2, 16, 8, 8), (16, 16, 3, 3), (2, 16, 8, 8), window, torch.float32, False, 0)
    assert _torch_run._plan(problem, "filter_grad").workspace_bytes > 0
    torch.manual_seed(0)
    x, dy = torch.randn(2, 16, 8, 8), torch.randn(2, 16, 8, 8)
    with OnGpu():
        dw = _torch_run.filter_gradient(problem, moved(x), moved(dy))
    call = Call(
        dy, x, torch.empty(16, 16, 3, 3), [16], ([1, 1], [1, 1], [1, 1], False, [0, 0], 1), [False, True, False]
    )
    assert_right(call, (None, dw, None))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_layers(gpu: None, rank: int) -> None:
    torch.manual_seed(0)
    ours = getattr(convgrad.torch, f"Conv{rank}d")(4, 6, 3, padding=1, groups=2, dtype=torch.double)
    theirs = getattr(torch.nn, f"Conv{rank}d")(4, 6, 3, padding=1, groups=2, dtype=torch.double)
    theirs.load_state_dict(ours.state_dict())
    ours.weight.data = moved(ours.weight.data)
    x = moved(torch.randn((2, 4, 5, 4, 3)[: rank + 2], dtype=torch.double)).requires_grad_()
    before = launches()
    with OnGpu():
        found = torch.autograd.grad(ours(x).square().sum(), [x, *ours.parameters()])
    assert convgrad.torch.stats() == stats(modules=3)
    assert launches() >= before + 3 and host_gpu.last_stream() == STREAM
    wanted = torch.autograd.grad(theirs(x).square().sum(), [x, *theirs.parameters()])
    assert_close(found, wanted, terms=2 * x.numel())


def test_layers_have_a_kernel_for_cuda_tensors() -> None:
    assert torch._C._dispatch_has_kernel_for_dispatch_key("convgrad::convolution", "CUDA")


def test_layers_want_one_device() -> None:
    layer = convgrad.torch.Conv2d(4, 4, 3)
    with pytest.raises(convgrad.errors.InvalidArgumentError, match="got cpu and meta, wanted one device"):
        _torch_modules._convolution(
            torch.randn(1, 4, 5, 5), layer.weight.to("meta"), "out", [], [1] * 4 + [0] * 4 + [1]
        )

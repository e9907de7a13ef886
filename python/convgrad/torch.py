"""convgrad inside PyTorch.

``install()`` takes over ``aten::convolution_backward``, for every model of the process: on the CPU in the cells where
convgrad is faster or PyTorch's result is wrong; the rest goes to PyTorch's own kernel. ``install(gpu=True)`` also takes
it over on NVIDIA GPUs, wherever convgrad's CUDA engine takes the problem: by choice, for it has not been measured
there. ``uninstall()`` undoes it; ``with enabled():`` does both. ``stats()`` counts whose kernel ran. ``Conv1d``,
``Conv2d`` and ``Conv3d`` are PyTorch's modules with forward and gradients by convgrad, whatever is installed.

Gradients of ``torch.nn``'s layers, ``torch.nn.functional``, transposed convolutions, ``torch.compile`` and
``torch.func`` all come through the one op that is taken over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from ._torch_backward import Kernel
from ._torch_modules import Conv1d, Conv2d, Conv3d
from ._torch_stats import reset_stats, stats

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "enabled",
    "install",
    "installed",
    "reset_stats",
    "stats",
    "uninstall",
]

_OP = "convolution_backward"
_registration: Any = None
_keys: tuple[str, ...] = ()  #: of PyTorch's dispatcher, that are taken over


def install(*, gpu: bool = False) -> None:
    """From now on convgrad gives gradients of this process's convolutions, with gpu those on NVIDIA GPUs too.

    Once installed, changes nothing, but for a gpu that is new.
    """
    global _registration, _keys
    keys = ("CPU", "CUDA") if gpu and torch.version.cuda else ("CPU",)
    if set(keys) <= set(_keys):
        return
    if not hasattr(torch.library, "get_kernel"):
        raise RuntimeError(f"PyTorch: got {torch.__version__}, wanted one that has torch.library.get_kernel")
    uninstall()
    originals = {key: torch.library.get_kernel(f"aten::{_OP}", key) for key in keys}  # before they are covered
    _registration = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    for key, original in originals.items():
        _registration.impl(_OP, Kernel(original), key, with_keyset=True)
    _keys = keys


def uninstall() -> None:
    """PyTorch's own kernel again. Without install(), changes nothing."""
    global _registration, _keys
    if _registration is not None:
        _registration._destroy()
        _registration = None
        _keys = ()


def installed() -> bool:
    return _registration is not None


@contextlib.contextmanager
def enabled(*, gpu: bool = False) -> Iterator[None]:
    """install() for a block, for all threads; leaves as it found."""
    before = _keys
    install(gpu=gpu)
    try:
        yield
    finally:
        if before != _keys:
            uninstall()
        if before:
            install(gpu="CUDA" in before)

"""What is asked of the libraries that arrays on a GPU come from: the stream that is current there, loans, new arrays.

A call then is like one of the library's own: its work follows what the library did before, what the library does next
follows it, and memory may be given back to the library at once. Libraries whose arrays never change (JAX, TensorFlow)
have no stream and no new arrays for others.
"""

from __future__ import annotations

import contextlib
from typing import Any

from ._arrays import Array


def current_stream(array: Array) -> int:
    """The CUDA stream's address; 0, the default stream, for libraries that are not asked."""
    library = _library(array)
    if library == "torch":
        import torch

        return int(torch.cuda.current_stream(array.device).cuda_stream)
    if library == "cupy":
        import cupy

        with _current(array):
            return int(cupy.cuda.get_current_stream().ptr)
    return 0


def lend(array: Array, stream: int, to_write: bool) -> Any:
    """DLPack's capsule: what its library did to the array is done before what the stream does next."""
    plain = array.detach() if _library(array) == "torch" else array
    number = stream or 1  # DLPack's default stream: 0 could be either of CUDA's
    with _current(array):
        if not to_write:
            return plain.__dlpack__(stream=number)
        try:
            return plain.__dlpack__(stream=number, max_version=(1, 0))  # only then it says whether one may
        except TypeError:  # a library of DLPack 0
            return plain.__dlpack__(stream=number)


def new_array(like: Array, shape: tuple[int, ...]) -> Any:
    """Of the same library, GPU and element type, its elements not set; None for libraries that are not asked."""
    library = _library(like)
    if library == "torch":
        return like.new_empty(shape)
    if library == "cupy":
        import cupy

        with _current(like):
            return cupy.empty(shape, like.dtype)
    return None


def _current(array: Array) -> contextlib.AbstractContextManager[Any]:
    """Makes the array's GPU its library's current one: PyTorch lends no tensor of another, CuPy makes none there."""
    library = _library(array)
    if library == "torch":
        import torch

        return torch.cuda.device(array.device)  # type: ignore[no-any-return]
    return array.device if library == "cupy" else contextlib.nullcontext()


def _library(array: Array) -> str:
    return type(array).__module__.partition(".")[0]

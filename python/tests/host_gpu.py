"""Arrays on a GPU that is none: memory of the tests' own CUDA driver (tests/engines/cuda/host_driver.h), by DLPack."""

from __future__ import annotations

import ctypes
import functools
import os
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

CUDA, CUDA_MANAGED = 2, 13
CODES = {"i": 0, "u": 1, "f": 2, "V": 4}  #: DLPack's, of NumPy's kinds; V is ml_dtypes.bfloat16


def is_here() -> bool:
    """Whether CONVGRAD_CUDA_DRIVER names the tests' driver."""
    path = os.environ.get("CONVGRAD_CUDA_DRIVER", "")
    return os.path.exists(path) and hasattr(ctypes.CDLL(path), "convgrad_host_driver")


@functools.cache
def driver() -> Any:
    library = ctypes.CDLL(os.environ["CONVGRAD_CUDA_DRIVER"])
    library.convgrad_host_stream.restype = ctypes.c_void_p
    library.cuCtxPushCurrent_v2.argtypes = [ctypes.c_void_p]
    library.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.cuMemFree_v2.argtypes = [ctypes.c_uint64]
    return library


def calls(name: str) -> int:
    return driver().convgrad_host_calls(name.encode())


def last_stream() -> int:
    return driver().convgrad_host_stream() or 0


class Memory:
    """Bytes of a device, as long as it lives."""

    def __init__(self, size: int, device: int) -> None:
        self.address, self.device = ctypes.c_uint64(), device
        if size:
            self._in_context(lambda: driver().cuMemAlloc_v2(ctypes.addressof(self.address), size))

    def __del__(self) -> None:
        if self.address.value:
            self._in_context(lambda: driver().cuMemFree_v2(self.address.value))

    def _in_context(self, call: Any) -> None:
        context = ctypes.c_void_p()
        assert driver().cuDevicePrimaryCtxRetain(ctypes.byref(context), self.device) == 0
        assert driver().cuCtxPushCurrent_v2(context) == 0
        assert call() == 0
        assert driver().cuCtxPopCurrent_v2(ctypes.byref(context)) == 0


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_uint64),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """DLPack 0."""

    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class ManagedVersioned(ctypes.Structure):
    """DLPack 1."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


loans: dict[int, Any] = {}  #: what is lent, until its deleter is called


@DELETER
def give_back(address: int) -> None:
    del loans[address]


def capsule_of(managed: Any, name: bytes, kept: Any) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    managed.deleter = give_back
    loans[ctypes.addressof(managed)] = (managed, name, kept)
    return new(ctypes.addressof(managed), name, None)


class GpuArray:
    """Nothing but DLPack over the memory of a device, as libraries have it."""

    device_type = CUDA
    read_only = False
    versions = True  #: whether it knows DLPack 1

    def __init__(self, values: np.ndarray, device: int = 0) -> None:
        self.shape, self.dtype, self.device_id = values.shape, values.dtype, device
        self.strides = tuple(s // values.itemsize for s in np.empty(values.shape, values.dtype).strides)
        self.memory = Memory(values.nbytes, device)
        self.offset = 0
        self.streams: list[int | None] = []  #: that loans were asked for
        plain = np.ascontiguousarray(values)
        if values.size:
            ctypes.memmove(self.memory.address.value, plain.ctypes.data, plain.nbytes)

    def numpy(self) -> np.ndarray:
        """A copy of a contiguous array."""
        size = int(np.prod(self.shape)) * self.dtype.itemsize
        data = ctypes.string_at(self.memory.address.value + self.offset, size) if size else b""
        return np.frombuffer(data, self.dtype).reshape(self.shape)

    def view(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Any:
        """The same memory in another shape; strides in elements, the offset in bytes."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, shape=tuple(shape), strides=tuple(strides), offset=offset, streams=[])
        return other

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_type, self.device_id

    def __dlpack__(self, *, stream: int | None = None, **how: Any) -> Any:
        if how and not self.versions:
            raise TypeError("unexpected keyword max_version")
        assert stream != 0, "DLPack: 0 is ambiguous"
        self.streams.append(stream)
        numbers = ctypes.c_int64 * max(len(self.shape), 1)
        kept = (self.memory, numbers(*self.shape), numbers(*self.strides))
        tensor = DLTensor(
            self.memory.address.value,
            self.device_type,
            self.device_id,
            len(self.shape),
            CODES[self.dtype.kind],
            self.dtype.itemsize * 8,
            1,
            ctypes.addressof(kept[1]),
            ctypes.addressof(kept[2]),
            self.offset,
        )
        if how:
            return capsule_of(ManagedVersioned(1, 0, flags=self.read_only, tensor=tensor), b"dltensor_versioned", kept)
        return capsule_of(Managed(tensor), b"dltensor", kept)


def unreachable(shape: tuple[int, ...]) -> GpuArray:
    """An array on the GPU of a driver that is not there."""
    plain = np.empty(shape, np.float32)
    array = GpuArray.__new__(GpuArray)
    array.shape, array.dtype, array.device_id, array.offset = shape, plain.dtype, 0, 0
    array.strides = tuple(s // plain.itemsize for s in plain.strides)
    array.memory = types.SimpleNamespace(address=ctypes.c_uint64(4096))
    array.streams = []
    return array

"""The plug-in library _jax.so: found, loaded, asked for shapes. What it refuses becomes a Python error here."""

from __future__ import annotations

import ctypes
import operator
import os
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import jax

from convgrad import errors

TARGET = "convgrad_jax_conv"


class Call(NamedTuple):
    """What the three ops of one convolution share: TensorFlow's attributes. Hashable, as JAX wants it."""

    rank: int
    strides: tuple[int, ...]
    padding: str
    explicit_paddings: tuple[int, ...]
    dilations: tuple[int, ...]
    data_format: str


class Sizes(NamedTuple):
    """A gradient's size vector as it was given: sizes of rank other than 1 are refused by the library."""

    values: tuple[int, ...] = ()
    rank: int = 1


class _Numbers(ctypes.Structure):
    _fields_ = [("values", ctypes.POINTER(ctypes.c_int64)), ("count", ctypes.c_int64)]


class _Call(ctypes.Structure):
    _fields_ = (
        [(name, ctypes.c_char_p) for name in ("op", "first_dtype", "second_dtype", "padding", "data_format")]
        + [(name, _Numbers) for name in ("first", "second", "sizes", "strides", "dilations", "explicit_paddings")]
        + [("sizes_rank", ctypes.c_int32)]
    )


class _Refusal(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("code", "message", "argument", "got", "wanted", "rule")]


def _refuse_other_interfaces() -> None:
    """A handler of another major version would be refused by XLA only when the CPU comes up, and the CPU with it."""
    header = pathlib.Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    stated = re.search(r"XLA_FFI_API_MAJOR\s+(\d+)", header.read_text()) if header.is_file() else None
    if stated and stated.group(1) != "0":
        raise ImportError(f"convgrad.jax: got version {stated.group(1)} of XLA's interface, wanted version 0")


def _load() -> ctypes.CDLL:
    """Beside this file, where packages have it; CONVGRAD_JAX_LIBRARY names another."""
    _refuse_other_interfaces()
    beside = pathlib.Path(__file__).with_name("_jax.so")
    library = ctypes.CDLL(os.environ.get("CONVGRAD_JAX_LIBRARY") or str(beside))
    library.convgrad_jax_result_shape.argtypes = [ctypes.POINTER(_Call), ctypes.POINTER(ctypes.c_int64)]
    library.convgrad_jax_result_shape.restype = ctypes.c_int32
    library.convgrad_jax_refuse_type.argtypes = [ctypes.c_char_p] * 3
    library.convgrad_jax_refuse_type.restype = None
    library.convgrad_jax_last_refusal.restype = _Refusal
    for platform, handler in (("cpu", library.convgrad_jax_conv), ("CUDA", library.convgrad_jax_conv_cuda)):
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(handler), platform=platform)
    return library


_LIBRARY = _load()


def _raise_refusal() -> NoReturn:
    refusal = _LIBRARY.convgrad_jax_last_refusal()
    raise errors.from_status(**{name: getattr(refusal, name).decode() for name, _ in _Refusal._fields_})


def refuse_type(argument: str, got: Any, wanted: str) -> NoReturn:
    _LIBRARY.convgrad_jax_refuse_type(argument.encode(), repr(got)[:80].encode(), wanted.encode())
    _raise_refusal()


def integers(argument: str, values: Iterable[Any]) -> tuple[int, ...]:
    """Whole numbers of 64 bits, or the library's refusal."""
    numbers = []
    for value in values:
        try:
            numbers.append(operator.index(value))
        except TypeError:
            refuse_type(argument, value, "integers")
        if not -(2**63) <= numbers[-1] < 2**63:
            refuse_type(argument, value, "64-bit integers")
    return tuple(numbers)


def text(argument: str, value: Any) -> str:
    return value if isinstance(value, str) else refuse_type(argument, value, "a name")


def _numbers(values: Sequence[int]) -> _Numbers:
    return _Numbers((ctypes.c_int64 * len(values))(*values), len(values))


def result_shape(op: str, operands: Sequence[Any], call: Call, sizes: Sizes) -> tuple[int, ...]:
    """The shape of op(operands), which have a shape and a dtype; raises what the library refuses."""
    first, second = operands
    asked = _Call(
        op=op.encode(),
        first_dtype=str(first.dtype).encode(),
        second_dtype=str(second.dtype).encode(),
        padding=call.padding.encode(),
        data_format=call.data_format.encode(),
        first=_numbers(integers("shape", first.shape)),
        second=_numbers(integers("shape", second.shape)),
        sizes=_numbers(sizes.values),
        strides=_numbers(call.strides),
        dilations=_numbers(call.dilations),
        explicit_paddings=_numbers(call.explicit_paddings),
        sizes_rank=sizes.rank,
    )
    shape = (ctypes.c_int64 * 5)()
    if _LIBRARY.convgrad_jax_result_shape(ctypes.byref(asked), shape) != 0:
        _raise_refusal()
    return tuple(shape[: call.rank + 2])

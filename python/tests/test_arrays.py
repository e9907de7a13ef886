"""What is taken as an array, and what comes back."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import convgrad
from convgrad import errors, nn, raw_ops
from definition import integers

X = integers((2, 5, 5, 2))
DY = integers((2, 5, 5, 3), 1)


def gradient(x: object, dy: object, sizes: object = (3, 3, 2, 3)) -> np.ndarray:
    return nn.conv2d_backprop_filter(x, sizes, dy, [1, 1, 1, 1], "SAME")


WANTED = gradient(np.float32(X), np.float32(DY))


def strided(array: np.ndarray) -> list[np.ndarray]:
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    backwards = array[:, ::-1, ::-1].copy()
    bytes_ = np.zeros(array.nbytes + 1, np.uint8)
    odd = bytes_[1:].view(array.dtype).reshape(array.shape)
    odd[...] = array
    return [wide[..., ::2], np.asfortranarray(array), backwards[:, ::-1, ::-1], odd]


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_any_strides_and_alignment(which: int, dtype: type) -> None:
    got = gradient(strided(X.astype(dtype))[which], strided(DY.astype(dtype))[which])
    assert got.dtype == dtype
    assert (got.astype(np.float32) == WANTED).all()


@pytest.mark.parametrize("dtype", [">f2", ">f4", ">f8"])
def test_the_other_byte_order_is_copied(dtype: str) -> None:
    got = gradient(X.astype(dtype), DY.astype(dtype))
    assert got.dtype == np.dtype(dtype).newbyteorder("=")
    assert (got == WANTED).all()


def test_broadcast_memory_is_read() -> None:
    one = np.broadcast_to(np.float32(1), (2, 5, 5, 2))
    assert (gradient(one, np.float32(DY)) == gradient(one.copy(), np.float32(DY))).all()


def test_read_only_operands_are_read() -> None:
    x = np.float32(X)
    x.flags.writeable = False
    assert (gradient(x, np.float32(DY)) == WANTED).all()


@pytest.mark.parametrize(
    "sizes",
    [
        [3, 3, 2, 3],
        (3, 3, 2, 3),
        np.array([3, 3, 2, 3]),
        np.array([3, 3, 2, 3], np.int32),
        np.array([3, 3, 2, 3], ">i8"),
        np.array([3, 3, 2, 3], np.uint8),
        np.array([3, 0, 3, 0, 2, 0, 3, 0])[::2],
        [np.int64(3), np.int16(3), 2, 3],
    ],
)
def test_sizes_in_all_their_forms(sizes: object) -> None:
    assert (gradient(np.float32(X), np.float32(DY), sizes) == WANTED).all()


def test_lists_take_the_other_tensors_type() -> None:
    for dtype in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16):
        assert gradient(X.tolist(), DY.astype(dtype)).dtype == dtype
        assert gradient(X.astype(dtype), DY.tolist()).dtype == dtype


def test_lists_alone_are_tensorflows_types() -> None:
    floats = raw_ops.Conv2D(input=[[[[1.0]]]], filter=[[[[2.0]]]], strides=[1, 1, 1, 1], padding="SAME")
    assert (floats.dtype, floats.tolist()) == (np.float32, [[[[2.0]]]])
    numbers = raw_ops.Conv2D(input=[[[[1]]]], filter=[[[[2]]]], strides=[1, 1, 1, 1], padding="SAME")
    assert (numbers.dtype, numbers.tolist()) == (np.int32, [[[[2]]]])


def test_numpys_floats_in_a_list_keep_their_type() -> None:
    one = [[[[np.float64(1)]]]]
    call = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    assert raw_ops.Conv2D(input=one, filter=np.ones((1, 1, 1, 1)), **call).dtype == np.float64
    assert raw_ops.Neg(x=[np.zeros(2)]).dtype == np.float64
    with pytest.raises(errors.InvalidArgumentError):
        raw_ops.Conv2D(input=one, filter=np.ones((1, 1, 1, 1), np.float32), **call)


def test_lists_before_arrays_take_the_arrays_type() -> None:
    dy = DY.astype(np.float64)
    gradients = convgrad.conv_gradients(X.tolist(), np.ones((3, 3, 2, 3)).tolist(), dy)
    assert [array.dtype for array in gradients] == [np.float64] * 3


class Lent:
    """Nothing but DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **how: object) -> object:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("which", range(3))
def test_anything_with_dlpack(which: int) -> None:
    got = gradient(Lent(strided(np.float32(X))[which]), Lent(np.float32(DY)))
    assert isinstance(got, np.ndarray)
    assert (got == WANTED).all()


class WithArray:
    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.float32(X)


def test_anything_that_numpy_makes_an_array_of() -> None:
    assert (gradient(WithArray(), np.float32(DY)) == WANTED).all()
    assert (gradient(memoryview(np.float32(X)), np.float32(DY)) == WANTED).all()


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_, np.complex64, object, "U4", np.longdouble, "m8[s]"])
def test_other_element_types_are_refused_by_name(dtype: object) -> None:
    with pytest.raises(TypeError, match="input") as refusal:
        gradient(np.zeros((2, 5, 5, 2), dtype), np.float32(DY))
    assert isinstance(refusal.value, errors.InvalidArgumentError)
    assert str(np.dtype(dtype)) in refusal.value.got


def test_two_element_types_are_refused() -> None:
    with pytest.raises(errors.InvalidArgumentError) as refusal:
        gradient(np.float32(X), np.float64(DY))
    assert refusal.value.rule == "dtype"


def test_a_result_is_an_array_of_its_own() -> None:
    first, second = (gradient(np.float32(X), np.float32(DY)) for _ in range(2))
    assert not np.shares_memory(first, second)
    assert first.flags.writeable and first.flags.c_contiguous


def test_threads_do_not_change_a_bit() -> None:
    x = np.random.default_rng(0).random((2, 33, 31, 5), np.float32)
    dy = np.random.default_rng(1).random((2, 33, 31, 7), np.float32)
    try:
        answers = []
        for threads in (1, 2, 3):
            convgrad.set_num_threads(threads)
            assert convgrad.get_num_threads() == threads
            answers.append(gradient(x, dy, (3, 3, 5, 7)))
    finally:
        convgrad.set_num_threads(0)
    assert (answers[0] == answers[1]).all() and (answers[0] == answers[2]).all()

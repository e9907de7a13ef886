"""Tensors of PyTorch, JAX and TensorFlow, where they are installed: taken in place, the result of their kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convgrad import conv_gradients, errors, nn
from definition import integers

X, DY = np.float32(integers((2, 5, 5, 2))), np.float32(integers((2, 5, 5, 3), 1))
SIZES = (3, 3, 2, 3)


def gradient(x: object, dy: object, sizes: object = SIZES) -> Any:
    return nn.conv2d_backprop_filter(x, sizes, dy, [1, 1, 1, 1], "SAME")


WANTED = gradient(X, DY)


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    x, dy = torch.from_numpy(X), torch.from_numpy(DY)
    got = gradient(x, dy, torch.tensor(SIZES))
    assert isinstance(got, torch.Tensor) and got.dtype == torch.float32
    assert (got.numpy() == WANTED).all()
    assert all(isinstance(each, torch.Tensor) for each in conv_gradients(x, got, dy))
    bf16 = gradient(x.bfloat16(), dy.bfloat16())
    assert bf16.dtype == torch.bfloat16 and (bf16.float().numpy() == WANTED).all()
    first = torch.from_numpy(X).permute(0, 3, 1, 2).contiguous().permute(0, 2, 3, 1)
    assert (gradient(first, dy).numpy() == WANTED).all()


def test_torch_refuses_to_lose_a_gradient() -> None:
    torch = pytest.importorskip("torch")
    x, dy = torch.from_numpy(X).requires_grad_(), torch.from_numpy(DY)
    with pytest.raises(errors.ArgumentTypeError, match="requires grad"):
        gradient(x, dy)
    with torch.no_grad():
        assert (gradient(x, dy).numpy() == WANTED).all()
    with pytest.raises(BufferError):
        gradient(torch.empty(2, 5, 5, 2, device="meta"), dy)


def test_torch_tensors_that_are_read_as_their_negative() -> None:
    torch = pytest.importorskip("torch")
    x, dy = torch.from_numpy(X), torch.from_numpy(DY)
    negated = torch.complex(torch.zeros_like(x), x).conj().imag
    assert negated.is_neg()
    assert (gradient(negated, dy).numpy() == -WANTED).all()


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    x, dy = jax.numpy.asarray(X), jax.numpy.asarray(DY)
    got = gradient(x, dy, jax.numpy.array(SIZES))
    assert isinstance(got, jax.Array) and (np.asarray(got) == WANTED).all()
    bf16 = gradient(x.astype("bfloat16"), dy.astype("bfloat16"))
    assert bf16.dtype == "bfloat16" and (np.asarray(bf16.astype("float32")) == WANTED).all()


def test_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")
    x, dy = tf.constant(X), tf.constant(DY)
    got = gradient(x, dy, tf.constant(SIZES))
    assert isinstance(got, tf.Tensor) and (got.numpy() == WANTED).all()
    bf16 = gradient(tf.cast(x, tf.bfloat16), tf.cast(dy, tf.bfloat16))
    assert bf16.dtype == tf.bfloat16 and (tf.cast(bf16, tf.float32).numpy() == WANTED).all()
    assert (gradient(tf.Variable(x), dy).numpy() == WANTED).all()


def test_a_framework_beside_numpy_gives_the_frameworks_kind() -> None:
    torch = pytest.importorskip("torch")
    assert isinstance(gradient(X, torch.from_numpy(DY)), torch.Tensor)
    assert isinstance(gradient(torch.from_numpy(X), DY), torch.Tensor)

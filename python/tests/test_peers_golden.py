"""What TensorFlow, PyTorch and JAX answered, replayed without them (tests/data/peers_golden.json).

A vector's name is its cell, or the name of a fault: a place where one of them is wrong and the definition is wanted.
"""

from __future__ import annotations

import json
import pathlib
from functools import reduce
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import convgrad

GOLDEN = json.loads((pathlib.Path(__file__).parents[2] / "tests" / "data" / "peers_golden.json").read_text())
BFLOAT16 = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}


def decoded(argument: Any) -> Any:
    if not isinstance(argument, dict):
        return argument
    dtype = BFLOAT16.get(argument["dtype"]) or np.dtype(argument["dtype"])
    if "values" not in argument:
        return np.ones(argument["shape"], dtype)
    return np.array(argument["values"], np.float64).astype(dtype).reshape(argument["shape"])


def call(function: str, arguments: dict[str, Any]) -> Any:
    called = reduce(getattr, function.split("."), convgrad)
    return called(**{name: decoded(argument) for name, argument in arguments.items()})


@pytest.mark.parametrize("vector", GOLDEN["vectors"], ids=lambda vector: vector["name"])
def test_the_peers_values(vector: dict[str, Any]) -> None:
    result = call(vector["call"], vector["arguments"])
    arrays = [decoded(argument) for argument in vector["arguments"].values() if isinstance(argument, dict)]
    assert result.dtype == arrays[0].dtype
    assert result.astype(np.float64).ravel().tolist() == vector["result"]["values"]
    assert list(result.shape) == vector["result"]["shape"]


@pytest.mark.parametrize("row", GOLDEN["mistakes"], ids=lambda row: f"{row['call']}-{row['mistake']}")
def test_tensorflows_class_of_error(row: dict[str, Any]) -> None:
    arguments = {**GOLDEN["valid"][row["call"]], **row["changed"]}
    with pytest.raises(Exception) as caught:
        call(row["call"], {name: value for name, value in arguments.items() if name not in row.get("missing", [])})
    assert row["error"] in [kind.__name__ for kind in type(caught.value).__mro__]


@pytest.mark.parametrize("function", GOLDEN["valid"])
def test_the_calls_that_mistakes_are_made_of_are_right(function: str) -> None:
    assert call(function, GOLDEN["valid"][function]).size > 0


def test_the_filter_gradient_of_many_strided_pixels() -> None:
    """TensorFlow's oneDNN kernel writes past the end of its memory here."""
    x, dy = np.ones((32, 128, 128, 4), np.float32), np.ones((32, 64, 64, 8), np.float32)
    dw = convgrad.nn.conv2d_backprop_filter(x, [1, 1, 4, 8], dy, [1, 2, 2, 1], "VALID")
    assert (dw == 32 * 64 * 64).all()


def test_infinity_beside_padding_makes_no_nan() -> None:
    """TensorFlow's stock kernels multiply it by the zeros of the padding."""
    w = np.full((3, 3, 1, 1), np.inf, np.float32)
    y = convgrad.nn.conv2d(np.ones((1, 2, 2, 1), np.float32), w, 1, "SAME")
    assert (y == np.inf).all()

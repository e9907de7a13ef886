"""Negative, huge, empty and malformed arguments end in TensorFlow's errors, never in the end of the process."""

from collections.abc import Callable

import pytest


@pytest.fixture(scope="module")
def found(run_child: Callable, onednn: bool) -> dict:
    return run_child("hostile.py", onednn=onednn)


def test_eager_calls_get_invalid_argument(found: dict) -> None:
    assert {name: got for name, got in found["eager"].items() if got != "InvalidArgumentError"} == {}


def test_graphs_get_invalid_argument_from_kernel_or_shape_function(found: dict) -> None:
    assert {n: got for n, got in found["graph"].items() if got not in ("InvalidArgumentError", "ValueError")} == {}


def test_empty_batches_have_results(found: dict) -> None:
    assert all(found["answered"].values()), found["answered"]

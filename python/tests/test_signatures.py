"""Names, order and defaults of arguments: those that TensorFlow has (data/signatures.json, read from it)."""

from __future__ import annotations

import inspect
import json
import pathlib

import pytest

from convgrad import nn, raw_ops

SIGNATURES = json.loads((pathlib.Path(__file__).parent / "data" / "signatures.json").read_text())


def arguments(function: object) -> dict[str, inspect.Parameter]:
    """All but `out`, which is ours."""
    return {name: p for name, p in inspect.signature(function).parameters.items() if name != "out"}


def as_text(parameters: dict[str, inspect.Parameter]) -> str:
    empty = inspect.Parameter.empty
    return "(" + ", ".join(n if p.default is empty else f"{n}={p.default!r}" for n, p in parameters.items()) + ")"


@pytest.mark.parametrize("op", SIGNATURES["raw_ops"])
def test_a_raw_op_has_tensorflows_arguments_by_keyword(op: str) -> None:
    parameters = arguments(getattr(raw_ops, op))
    assert as_text(parameters) == SIGNATURES["raw_ops"][op]
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())


@pytest.mark.parametrize("name", SIGNATURES["nn"])
def test_a_function_of_nn_has_tensorflows_arguments_in_order(name: str) -> None:
    parameters = arguments(getattr(nn, name))
    assert as_text(parameters) == SIGNATURES["nn"][name]
    assert all(p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for p in parameters.values())


def test_nn_offers_what_it_says() -> None:
    assert sorted(SIGNATURES["nn"]) == sorted(nn.__all__)

"""The cases of tests/data/ops.json through the raw ops: integer values exactly, refusals by their class."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from convgrad import errors, raw_ops

CASES = json.loads((pathlib.Path(__file__).parents[2] / "tests" / "data" / "ops.json").read_text())["cases"]
EXACT = {"float32": 2**24, "float64": 2**53, "int32": 2**31}


def is_exact(case: dict) -> bool:
    """Integers in and out, so that there is one right answer."""
    whole = case["kind"] == "value" and all(float(v).is_integer() for v in case.get("expected") or [0.5])
    return whole and all(rule["rule"] in ("iota1", "constant") for rule in case["construct"].values())


def tensor(case: dict, name: str, dtype: str) -> np.ndarray:
    shape = case[f"{name}_shape"]
    rule = case.get("construct", {}).get(name, {"rule": "constant", "value": 1})
    if rule["rule"] == "constant":
        return np.full(shape, rule["value"], dtype)
    return np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)


def call(case: dict, dtype: str) -> np.ndarray:
    op = case["op"]
    names = ["input", "filter"] if "Backprop" not in op else ["input" if "Filter" in op else "filter", "out_backprop"]
    arguments = {name: tensor(case, name, dtype) for name in names}
    if "Backprop" in op:
        arguments["filter_sizes" if "Filter" in op else "input_sizes"] = case["sizes"]
    attrs = ("strides", "padding", "dilations", "data_format", "explicit_paddings")
    arguments.update({name: case[name] for name in attrs if not ("3D" in op and name == "explicit_paddings")})
    return getattr(raw_ops, op)(**arguments)


@pytest.mark.parametrize("case", [case for case in CASES if is_exact(case)], ids=lambda case: case["id"])
def test_a_value_case(case: dict) -> None:
    wanted = np.array(case["expected"]).reshape(case["expected_shape"])
    tried = [dtype for dtype in case["dtypes"] if np.abs(wanted).max() < EXACT.get(dtype, 0)]
    assert tried
    for dtype in tried:
        got = call(case, dtype)
        assert got.dtype == dtype and (got == wanted).all()


@pytest.mark.parametrize("case", [case for case in CASES if case["kind"] == "error"], ids=lambda case: case["id"])
def test_an_error_case(case: dict) -> None:
    classes = {"InvalidArgument": errors.InvalidArgumentError, "Unimplemented": errors.UnimplementedError}
    wanted = tuple(classes[code] for code in case["error_codes"] if code in classes)
    with pytest.raises((*wanted, TypeError)):
        call(case, case["dtypes"][0])

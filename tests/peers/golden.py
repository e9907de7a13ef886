"""Golden vectors: what TensorFlow and its peers answered, as JSON that python/tests/test_peers_golden.py replays.

Values are integers and exact: for every cell the smallest problem on which a peer agrees, and the example of every
named fault, by the definition. Errors are TensorFlow's classes for mistaken calls: a valid call and what is changed.
"""

from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np

from faults import FAULTS
from problems import Cell, filter_shape, to_layout
from versions import versions

if TYPE_CHECKING:
    from compare import Case
    from run import Run

FILE = pathlib.Path(__file__).parents[1] / "data" / "peers_golden.json"
MOST_NUMBERS = 300


def numbers_in(case: Case) -> int:
    operands = case.operands
    return operands.input.size + operands.filter.size + operands.out_backprop.size


def encoded(value: Any, contents: bool) -> Any:
    """Arrays as dtype, shape and, where they matter, values; else ones."""
    if not isinstance(value, np.ndarray):
        return value
    array: dict[str, Any] = {"dtype": str(value.dtype), "shape": list(value.shape)}
    if contents:
        array["values"] = [int(number) for number in value.astype(np.float64).ravel()]
    return array


def values_of(result: np.ndarray) -> dict[str, Any]:
    """The dtype is the operands'."""
    return {"shape": list(result.shape), "values": [int(number) for number in result.ravel()]}


def function_of(path: str) -> str:
    return path.replace("compat.v1.", "")


def vector(case: Case, name: str, agreed: list[str]) -> dict[str, Any]:
    problem, value = case.problem, case.truth.value
    result = value.reshape(filter_shape(problem)) if problem.op.direction == "filter" else to_layout(problem, value)
    arguments = {key: encoded(argument, True) for key, argument in case.task["arguments"].items()}
    call = {"name": name, "call": function_of(case.task["path"]), "arguments": arguments}
    return {**call, "result": values_of(np.asarray(result)), "agreed": agreed}


def name_of(cell: Cell) -> str:
    words = [cell.op, cell.dtype, f"channels_{cell.layout}", *["dilated"] * cell.dilated, *["grouped"] * cell.grouped]
    return "_".join(words)


def vectors(run: Run) -> list[dict[str, Any]]:
    smallest: dict[Cell, Case] = {}
    for case in sorted(run.cases, key=numbers_in):
        peers = run.agreed.get(id(case.problem), [])
        if case.problem.data == "integers" and len(peers) > 1 and numbers_in(case) <= MOST_NUMBERS:
            smallest.setdefault(case.problem.cell, case)
    found = [vector(smallest[c], name_of(c), run.agreed[id(smallest[c].problem)]) for c in sorted(smallest)]
    examples = {id(fault.example): fault.name for fault in FAULTS}
    named = [case for case in run.cases if id(case.problem) in examples]
    agreed = [run.agreed.get(id(case.problem), []) for case in named]
    return found + [vector(case, examples[id(case.problem)], peers) for case, peers in zip(named, agreed)]


def errors(run: Run) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Valid calls by function, and the mistakes made of them that TensorFlow and we refuse alike."""
    valid = {t["path"]: t["arguments"] for t in run.mistakes if t["mistake"] == "nothing_wrong" and t["pad"] == "SAME"}
    found = []
    for task, ours, theirs in zip(run.mistakes, run.mistake_answers["convgrad"], run.mistake_answers["TF-stock"]):
        told = task["pad"] == "SAME" and not task["path"].startswith("compat")  # whose raw ops tell the same
        if told and theirs[0] == "error" and ours[0] == "error" and theirs[1][0] in ours[1]:
            base, arguments = valid[task["path"]], task["arguments"]
            changed = {k: encoded(v, False) for k, v in arguments.items() if k not in base or v is not base[k]}
            missing = [k for k in base if k not in arguments]
            row = {"call": task["path"], "mistake": task["mistake"], "changed": changed}
            found.append({**row, **({"missing": missing} if missing else {}), "error": theirs[1][0]})
    used = {row["call"] for row in found}
    bases = {k: {n: encoded(v, False) for n, v in valid[k].items()} for k in valid if k in used}
    return bases, found


def write(run: Run) -> None:
    bases, mistakes = errors(run)
    parts = {"versions": versions(), "valid": bases, "vectors": vectors(run), "mistakes": mistakes}
    FILE.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {rows(part)}" for name, part in parts.items()) + "\n}\n")
    print(f"{FILE.name}: {len(parts['vectors'])} vectors, {len(mistakes)} mistakes, {FILE.stat().st_size} bytes")


def rows(part: Any) -> str:
    """One row a line."""
    if isinstance(part, list):
        return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in part) + "\n]"
    return json.dumps(part, separators=(",", ":"))

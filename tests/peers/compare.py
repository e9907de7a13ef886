"""What became of every question: agreed, refused, aborted, wrong with a name, or unexplained."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import numpy as np

import invalid
import second
from exact import Truth
from faults import fault_of
from problems import DTYPES, OPS, Cell, Operands, Problem, call_of, operands_of, result_last
from processes import Answer

TAKE_LAYERS = ("PyTorch", "JAX")  # answered in the shapes of the layer, in a dtype that holds the result's


@dataclasses.dataclass(frozen=True)
class Case:
    problem: Problem
    operands: Operands
    truth: Truth
    task: dict[str, Any]


def case_of(problem: Problem) -> Case:
    operands = operands_of(problem)
    path, arguments = call_of(problem, operands)
    task = {"kind": "call", "path": path, "arguments": arguments, "problem": problem, "operands": operands}
    return Case(problem, operands, Truth(problem, operands), task)


@dataclasses.dataclass(frozen=True)
class Outcome:
    status: str  # "agreed", "refused", "aborted", "wrong" or "unexplained"
    note: str = ""  # the message, the signal, the fault's name, or what differs


@dataclasses.dataclass
class Tally:
    """The counts of one peer, and what is behind them."""

    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    faults: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    unexplained: list[str] = dataclasses.field(default_factory=list)
    cells: dict[Cell, list[Outcome]] = dataclasses.field(default_factory=lambda: collections.defaultdict(list))

    def add(self, what: str, outcome: Outcome) -> None:
        self.counts[outcome.status] += 1
        if outcome.status == "wrong":
            self.faults[outcome.note] += 1
        if outcome.status == "unexplained":
            self.unexplained.append(f"{what}: {outcome.note}")

    @property
    def compared(self) -> int:
        return sum(self.counts[status] for status in ("agreed", "wrong", "unexplained"))


def no_value(peer: str, answer: Answer) -> Outcome:
    """A refusal or a death; ours may do neither."""
    if peer == "convgrad":
        return Outcome("unexplained", f"{answer[0]} {answer[-1]}")
    return Outcome("aborted", answer[1]) if answer[0] == "aborted" else Outcome("refused", answer[2])


def judge(peer: str, case: Case, answer: Answer) -> Outcome:
    """A value, against the definition."""
    if answer[0] != "value":
        return no_value(peer, answer)
    _, dtype, result = answer
    problem = case.problem
    if peer not in TAKE_LAYERS:
        result = result_last(problem, result)
        if dtype != str(DTYPES[problem.cell.dtype]):
            return Outcome("unexplained", f"a result of {dtype}")
    difference = case.truth.difference(result, ours=peer == "convgrad")
    if not difference:
        return Outcome("agreed")
    fault = fault_of(peer, problem)
    return Outcome("wrong", fault.name) if fault else Outcome("unexplained", difference)


def judge_second(peer: str, task: dict[str, Any], answer: Answer) -> Outcome:
    """Second derivatives, integers, against the definition; the faults of any of the three ops show in them."""
    if answer[0] != "value":
        return no_value(peer, answer)
    problem: Problem = task["problem"]
    image, filters = answer[2]
    image = np.moveaxis(image, 1, -1) if problem.first else image
    wanted = second.by_definition(task)
    if all(np.array_equal(a, b) for a, b in zip((image, filters.reshape(wanted[1].shape)), wanted)):
        return Outcome("agreed")
    for name, op in OPS.items():
        if op[:2] == problem.op[:2]:
            fault = fault_of(peer, dataclasses.replace(problem, cell=problem.cell._replace(op=name)))
            if fault:
                return Outcome("wrong", fault.name)
    return Outcome("unexplained", "second derivatives differ from the definition")


def judge_error(task: dict[str, Any], ours: Answer, theirs: Answer) -> Outcome:
    """The answer to a mistake, against TensorFlow's; "wrong" is a difference that is meant or known to be open."""
    difference = invalid.disagreement(ours, theirs)
    if not difference:
        return Outcome("agreed")
    for kind, rows in (("open", invalid.OPEN), ("meant", invalid.MEANT)):
        row = invalid.known(task, rows)
        if row:
            return Outcome("wrong", f"{kind}: {row.mistake}{' of ' + row.function if row.function else ''}")
    return Outcome("unexplained", difference)

"""docs/coverage.md: what every peer does with every cell, as one run of the differential tests found it."""

from __future__ import annotations

import collections
import datetime
import pathlib
import re
from typing import TYPE_CHECKING

from compare import Outcome
from faults import FAULTS
from problems import all_cells
from versions import cpu_name, versions

if TYPE_CHECKING:
    from run import Run

FILE = pathlib.Path(__file__).parents[2] / "docs" / "coverage.md"
COLUMNS = {
    "TF-stock": "TensorFlow, oneDNN off",
    "TF-oneDNN": "TensorFlow, oneDNN on",
    "TF-XLA": "TensorFlow XLA",
    "PyTorch": "PyTorch",
    "JAX": "JAX",
    "convgrad": "convgrad",
}
HEAD = """# Coverage

What TensorFlow, PyTorch, JAX and convgrad do on a CPU with every cell: op, dtype, layout, dilation, groups. Measured by
`make test-peers ARGS=--write` on {date}; do not edit.

{versions}; {cpu}.

Every cell has {each} seeded random problems (XLA one, JAX two) of strides, sizes, channels and SAME, VALID and explicit
padding. A peer is asked in its own words, and not asked what it has no words for: explicit padding of volumes in
TensorFlow.

- **answers**: every result is right: exact on integer data, within the rounding errors of its dtype on real data.
- **refuses** [n]: an error, listed below by its number; "in part": some problems of the cell only.
- **aborts**: the process ends.
- **wrong**: a result that the definition contradicts, with the letter of the fault below.

"""


class Notes:
    """Messages by number, numbers left out of them so that they are few."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, message: str) -> int:
        plain = re.sub(r"\[\[.*|\[[-\d,\s]*\]", "[...]", message)
        plain = re.sub(r"(?<![A-Za-z])\d+(?![A-Za-z])", "N", plain).replace("|", "/")[:140]
        return self.numbers.setdefault(plain, len(self.numbers) + 1)


def letter_of(name: str) -> str:
    names = [fault.name for fault in FAULTS]
    return chr(ord("a") + names.index(name))


def cell_text(outcomes: list[Outcome], notes: Notes) -> str:
    """What a peer does with a cell's problems."""
    if not outcomes:
        return "not asked"
    by: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for outcome in outcomes:
        by[outcome.status][outcome.note] += 1
    parts = []
    if by["unexplained"]:
        parts.append("**unexplained**")
    if by["wrong"]:
        letters = ", ".join(sorted({letter_of(name) for name in by["wrong"]}))
        parts.append(f"**wrong** ({letters}) {by['wrong'].total()} of {len(outcomes)}")
    if by["aborted"]:
        parts.append(f"**aborts** ({by['aborted'].most_common(1)[0][0]})")
    if by["agreed"]:
        parts.append("answers")
    if by["refused"]:
        number = notes.number(by["refused"].most_common(1)[0][0])
        parts.append(f"refuses [{number}]" + (" in part" if parts else ""))
    return "; ".join(parts)


def table(run: Run, notes: Notes) -> str:
    peers = [peer for peer in COLUMNS if peer in run.tallies]
    lines = ["| op | dtype | layout | dilation | groups | " + " | ".join(COLUMNS[peer] for peer in peers) + " |"]
    lines.append("|" + "---|" * (5 + len(peers)))
    for cell in all_cells():
        words = [cell.op, cell.dtype, f"channels {cell.layout}", "> 1" if cell.dilated else "1"]
        words.append("> 1" if cell.grouped else "1")
        words += [cell_text(run.tallies[peer].cells.get(cell, []), notes) for peer in peers]
        lines.append("| " + " | ".join(words) + " |")
    return "\n".join(lines)


def fault_table(run: Run) -> str:
    """What each peer does with the example of each fault, whether the fault is its own or not."""
    peers = [peer for peer in COLUMNS if peer in run.tallies]
    lines = ["| | fault | what happens | " + " | ".join(COLUMNS[peer] for peer in peers) + " |"]
    lines.append("|" + "---|" * (3 + len(peers)))
    said = {"agreed": "right", "wrong": "**wrong**", "unexplained": "**wrong**", "refused": "refuses"}
    for fault in FAULTS:
        words = [letter_of(fault.name), fault.name.replace("_", " "), fault.why]
        for peer in peers:
            outcome = run.examples.get((fault.name, peer))
            words.append("not asked" if outcome is None else said.get(outcome.status, f"**aborts** ({outcome.note})"))
        lines.append("| " + " | ".join(words) + " |")
    return "\n".join(lines)


def write(run: Run) -> None:
    notes = Notes()
    cells = table(run, notes)
    found = ", ".join(f"{name} {version}" for name, version in versions().items())
    head = HEAD.format(date=datetime.date.today(), versions=found, cpu=cpu_name(), each=run.each)
    messages = "\n".join(f"{number}. {message}" for message, number in notes.numbers.items())
    faults = "## Faults\n\nEach has a test of its name in `python/tests/test_peers_golden.py`.\n\n" + fault_table(run)
    FILE.write_text(head + cells + "\n\n## Refusals\n\n" + messages + "\n\n" + faults + "\n")

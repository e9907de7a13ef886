"""make test-peers: convgrad against TensorFlow, XLA, PyTorch and JAX on seeded random problems.

Values and second derivatives are settled by the definition (exact.py), errors and signatures by TensorFlow. Prints
the counts and ends with 1 when anything is unexplained. --write renews the golden vectors and docs/coverage.md.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time
from typing import Any

import coverage
import golden
import invalid
import processes
import second
from compare import Case, Tally, case_of, judge, judge_error, judge_second
from faults import FAULTS, fault_of
from problems import Cell, Problem, all_cells, draw_problem, draw_problems

EACH = int(os.environ.get("CONVGRAD_PEER_PROBLEMS", "12"))  # problems for every cell
FEW = {"TF-XLA": 1, "JAX": 2}  # for those who compile every problem, at 0.2 s
SECONDS_EACH = 6
SECOND_OPS = ("Conv2D", "DepthwiseConv2dNative", "Conv3D")
PEERS = ["TF-XLA", "JAX", "TF-oneDNN", "TF-stock", "PyTorch"]  # the slow ones first


def second_problems() -> list[Problem]:
    cells = [cell for cell in all_cells() if cell.op in SECOND_OPS and cell.dtype in ("f32", "f64")]
    drawn = [draw_problem(cell, 100 + k, "integers", False) for cell in cells for k in range(SECONDS_EACH)]
    return [problem for problem in drawn if not problem.unsayable]


def asked_of(peer: str, cases: list[Case]) -> list[Case]:
    """What a peer is asked; what may spoil its memory comes last."""
    tensorflow = peer.startswith("TF")
    sayable = [case for case in cases if not (tensorflow and case.problem.unsayable)]
    taken: dict[Cell, int] = {}
    asked = []
    for case in sayable:
        cell = case.problem.cell
        taken[cell] = taken.get(cell, 0) + 1
        if taken[cell] <= FEW.get(peer, EACH) or is_example(case.problem):
            asked.append(case)
    return sorted(asked, key=lambda case: fault_of(peer, case.problem) is not None)


def is_example(problem: Problem) -> bool:
    return any(problem is fault.example for fault in FAULTS)


def seconds_of(peer: str, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if peer in ("convgrad", "TF-stock", "TF-oneDNN"):
        return tasks
    if peer != "TF-XLA":
        return []
    first = {task["problem"].cell: task for task in reversed(tasks) if task["problem"].cell.dtype == "f32"}
    return list(first.values())


class Run:
    """The questions, the answers, and the tally of every peer."""

    each = EACH

    def __init__(self) -> None:
        self.cases = [case_of(problem) for problem in draw_problems(EACH) + [fault.example for fault in FAULTS]]
        self.seconds = [second.task_of(problem) for problem in second_problems()]
        self.mistakes = invalid.invalid_calls()
        self.tallies: dict[str, Tally] = {}
        self.agreed: dict[int, list[str]] = {}  # the peers that agree on a case, by the problem's id
        self.examples: dict[tuple[str, str], Any] = {}  # (fault, peer) -> what the peer does with its example
        self.mistake_answers: dict[str, list[processes.Answer]] = {}

    def ask(self, peer: str) -> None:
        cases, seconds = asked_of(peer, self.cases), seconds_of(peer, self.seconds)
        mistakes = self.mistakes if peer in ("convgrad", "TF-stock") else []
        tasks = [*seconds, *mistakes, *(case.task for case in cases)]
        start = time.monotonic()
        answers = processes.answers_of(peer, tasks)
        tally = self.tallies[peer] = Tally()
        for task, answer in zip(seconds, answers):
            tally.add(f"second derivatives of {task['problem']}", judge_second(peer, task, answer))
        self.mistake_answers[peer] = answers[len(seconds) : len(seconds) + len(mistakes)]
        for case, answer in zip(cases, answers[len(seconds) + len(mistakes) :]):
            self.note(peer, case, answer)
        print(f"{peer}: {len(tasks)} answers in {time.monotonic() - start:.0f} s", flush=True)

    def note(self, peer: str, case: Case, answer: processes.Answer) -> None:
        outcome = judge(peer, case, answer)
        if outcome.status == "unexplained" and peer != "convgrad":  # again, by a process without a past
            outcome = judge(peer, case, processes.answers_of(peer, [case.task])[0])
        tally, problem = self.tallies[peer], case.problem
        tally.add(str(problem), outcome)
        if is_example(problem):
            name = next(fault.name for fault in FAULTS if fault.example is problem)
            self.examples[name, peer] = outcome
        else:
            tally.cells[problem.cell].append(outcome)
        if outcome.status == "agreed":
            self.agreed.setdefault(id(problem), []).append(peer)

    def compare_errors(self) -> Tally:
        tally = Tally()
        for task, ours, theirs in zip(self.mistakes, *(self.mistake_answers[p] for p in ("convgrad", "TF-stock"))):
            tally.add(f"{task['path']} with {task['mistake']}", judge_error(task, ours, theirs))
        return tally


def compare_signatures() -> dict[str, Any]:
    program = processes.HERE / "signatures.py"
    with processes.log_of("signatures") as log:
        answer = subprocess.run([sys.executable, program], stdout=subprocess.PIPE, stderr=log, check=True)
    return json.loads(answer.stdout)


def report(run: Run, errors: Tally, signatures: dict[str, Any]) -> int:
    """Prints the counts; how many questions are unexplained."""
    print(f"\n{len(run.cases)} problems, {len(run.seconds)} second derivatives, {len(run.mistakes)} mistaken calls")
    print(f"{'peer':<12}{'compared':>9}{'agreed':>8}{'refused':>9}{'aborted':>9}{'wrong':>7}{'unexplained':>13}")
    rows = {**run.tallies, "error class": errors}
    for peer, tally in rows.items():
        counts = (tally.counts[status] for status in ("agreed", "refused", "aborted", "wrong", "unexplained"))
        agreed, refused, aborted, wrong, unexplained = counts
        print(f"{peer:<12}{tally.compared:>9}{agreed:>8}{refused:>9}{aborted:>9}{wrong:>7}{unexplained:>13}")
    differences = signatures["differences"]
    meant = len(signatures["meant"])
    same = signatures["compared"] - meant - len(differences)
    print(f"{'signatures':<12}{signatures['compared']:>9}{same:>8}{'':>18}{meant:>7}{len(differences):>13}")
    for peer, tally in rows.items():
        for name, count in sorted(tally.faults.items()):
            print(f"  {peer}: {count} x {name}")
    lines = [f"{peer}: {line}" for peer, tally in rows.items() for line in tally.unexplained]
    lines += [str(difference) for difference in differences]
    for line in lines[:50]:
        print(f"UNEXPLAINED {line}")
    return len(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the golden vectors and docs/coverage.md")
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=PEERS)
    options = parser.parse_args()
    peers = options.peers
    start = time.monotonic()
    run = Run()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # two peers beside each other, a thread each
        list(pool.map(run.ask, [*peers[:1], "convgrad", *peers[1:]]))
    run.tallies = {peer: run.tallies[peer] for peer in ["convgrad", *PEERS] if peer in run.tallies}
    errors = run.compare_errors() if "TF-stock" in peers else Tally()
    signatures = compare_signatures()
    unexplained = report(run, errors, signatures)
    if options.write:
        golden.write(run)
        coverage.write(run)
    print(f"{time.monotonic() - start:.0f} s; {unexplained} unexplained")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()

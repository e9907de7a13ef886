"""A peer as a process that may die: its answers to a list of tasks, whatever becomes of it."""

from __future__ import annotations

import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any

HERE = pathlib.Path(__file__).parent
STALL_SECONDS = 120
ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "-1",
    "JAX_PLATFORMS": "cpu",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
OWN = {"TF-stock": {"TF_ENABLE_ONEDNN_OPTS": "0"}, "TF-oneDNN": {"TF_ENABLE_ONEDNN_OPTS": "1"}}

Answer = tuple[Any, ...]  # ("value", dtype, array), ("error", classes, message) or ("aborted", signal)


def answers_of(peer: str, tasks: list[dict[str, Any]]) -> list[Answer]:
    """An answer a task. What dies is asked once more in a process without a past: an earlier task may have spoiled
    the memory of the first."""
    answers: list[Answer] = []
    while len(answers) < len(tasks):
        found, ending = one_process(peer, tasks[len(answers) :])
        answers += found
        if len(answers) == len(tasks):
            break
        again, ending_again = one_process(peer, [tasks[len(answers)]]) if found else ([], ending)
        answers += again or [("aborted", ending_again)]
    return answers


def one_process(peer: str, tasks: list[dict[str, Any]]) -> tuple[list[Answer], str]:
    """The answers until all are there or the process ends, and how it ended."""
    with tempfile.NamedTemporaryFile() as file:
        pickle.dump(tasks, file)
        file.flush()
        process = subprocess.Popen(
            [sys.executable, HERE / "runner.py", peer, file.name, "0"],
            stdout=subprocess.PIPE,
            stderr=log_of(peer),
            env={**os.environ, **ENVIRONMENT, **OWN.get(peer, {})},
        )
        answers = read(process)
        code = process.wait()
    return answers, signal.Signals(-code).name if code < 0 else f"exit code {code}"


def read(process: subprocess.Popen[bytes]) -> list[Answer]:
    assert process.stdout is not None
    answers: list[Answer] = []
    while True:
        watch = threading.Timer(STALL_SECONDS, process.kill)
        watch.start()
        try:
            answers.append(pickle.load(process.stdout)[1:])
        except (EOFError, pickle.UnpicklingError):
            return answers
        finally:
            watch.cancel()


def log_of(peer: str) -> Any:
    folder = pathlib.Path(os.environ.get("CONVGRAD_PEER_LOGS", tempfile.gettempdir()))
    return open(folder / f"{peer}.log", "ab")

"""runner.py PEER TASKS START: answers a file of tasks from number START on, one pickled answer a task.

A task is a call (a path under `tensorflow` and its arguments), a convolution (for those who name things differently)
or a second derivative. An answer is (number, "value", dtype, array in float64) or (number, "error", classes, message).
"""

from __future__ import annotations

import os
import pickle
import re
import sys
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

Answerer = Callable[[dict[str, Any]], Any]


def reach(module: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), module)


def our_answers() -> Answerer:
    import convgrad
    from second import ours

    def answer(task: dict[str, Any]) -> Any:
        if task["kind"] == "second":
            return ours(task)
        return reach(convgrad, task["path"].replace("compat.v1.", ""))(**task["arguments"])

    return answer


def tensorflow_answers(compiled: bool) -> Answerer:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    from second import tensorflows

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    wrap = tf.function(jit_compile=True) if compiled else lambda function: function

    def answer(task: dict[str, Any]) -> Any:
        if task["kind"] == "second":
            return tensorflows(tf, wrap, task)
        arrays = {k: tf.constant(v) for k, v in task["arguments"].items() if isinstance(v, np.ndarray)}
        others = {k: v for k, v in task["arguments"].items() if k not in arrays}
        function = reach(tf, task["path"])
        return wrap(lambda tensors: function(**tensors, **others))(arrays).numpy()

    return answer


def rival_answers(rival: Any) -> Answerer:
    """Through the calls that the benchmarks make."""
    from cells import Cell

    def answer(task: dict[str, Any]) -> Any:
        problem, operands = task["problem"], task["operands"]
        cell = Cell.__new__(Cell)
        cell.layer, cell.op, cell.dtype = problem.layer, problem.op.direction, problem.cell.dtype
        cell.layout, cell.first, cell.cast = problem.cell.layout, problem.first, False
        way = next(iter(rival.ways(cell, operands)))
        return way.read(way.call())

    return answer


def torch_answers() -> Answerer:
    import torch
    import torch_peer

    torch_peer.DTYPES["i32"] = torch.int32
    return rival_answers(torch_peer.PyTorch(1))


def jax_answers() -> Answerer:
    import jax_peer

    answer = rival_answers(jax_peer.Jax(1))

    def refuse_integers(task: dict[str, Any]) -> Any:
        problem = task["problem"]
        if problem.cell.dtype == "i32" and problem.op.direction != "forward":
            raise NotImplementedError("integers have no derivatives")  # JAX gives a zero without numbers
        return answer(task)

    return refuse_integers


PEERS: dict[str, Callable[[], Answerer]] = {
    "convgrad": our_answers,
    "TF-stock": lambda: tensorflow_answers(False),
    "TF-oneDNN": lambda: tensorflow_answers(False),
    "TF-XLA": lambda: tensorflow_answers(True),
    "PyTorch": torch_answers,
    "JAX": jax_answers,
}


def sentence(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = lines[-1] if lines[0] == "in user code:" else lines[0]
    return re.sub(r"\{\{.*?\}\} ?| \[Op:.*", "", line.strip())[:300]  # without the node's name


def outcome(answerer: Answerer, task: dict[str, Any]) -> tuple[Any, ...]:
    try:
        result = answerer(task)
    except Exception as error:
        return "error", [kind.__name__ for kind in type(error).__mro__], sentence(error)
    if isinstance(result, tuple):
        return "value", "", tuple(np.asarray(part, np.float64) for part in result)
    return "value", str(result.dtype), np.asarray(result).astype(np.float64)


def main() -> None:
    peer, tasks_file, start = sys.argv[1], sys.argv[2], int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a framework prints must not fall between the answers
    with open(tasks_file, "rb") as file:
        tasks = pickle.load(file)
    answerer = PEERS[peer]()
    for number in range(start, len(tasks)):
        pickle.dump((number, *outcome(answerer, tasks[number])), answers)
        answers.flush()


if __name__ == "__main__":
    main()

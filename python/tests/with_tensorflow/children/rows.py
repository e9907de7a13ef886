"""Runs cases by routes and says of each row whether the values are exact and whose kernels ran.

rows.py matrix|more plain|fast|all: which cases; without install(), with install(), with install(onednn=True).
"""

import itertools
import json
import sys
from collections.abc import Callable

import numpy as np
import routes
import tensorflow as tf
from oracle import Case, exact

import convgrad.tensorflow

MATRIX = [
    Case(rank=rank, first=first, dtype=dtype, dilation=dilation, groups=groups)
    for rank, first, dtype, dilation, groups in itertools.product(
        (2, 3), (False, True), ("float32", "float64"), (1, 2), (1, 2)
    )
]
MORE = [
    *(Case(rank=r, dtype=d, first=f) for r in (2, 3) for d in ("float16", "bfloat16") for f in (False, True)),
    *(
        Case(rank=r, stride=2, padding=p, dtype=d)
        for r in (2, 3)
        for p in ("SAME", "VALID")
        for d in ("float32", "float64")
    ),
    *(Case(padding="EXPLICIT", first=f, dilation=2, dtype=d) for f in (False, True) for d in ("float32", "float64")),
    *(
        Case(multiplier=m, first=f, dilation=d, dtype=t)
        for m in (1, 2)
        for f in (False, True)
        for d in (1, 2)
        for t in ("float32", "float64", "bfloat16", "float16")
    ),
]


def calls() -> dict[tuple[str, str], int]:
    return {(op, dtype): n for op, dtypes in convgrad.tensorflow.stats().items() for dtype, n in dtypes.items()}


def ours(before: dict, case: Case, results: dict) -> bool:
    """Whether each result came from a kernel of ours, under any of the names that TensorFlow gives its op."""
    after = calls()
    called = {op for (op, dtype), n in after.items() if n > before[op, dtype] and dtype == case.dtype}
    wanted = [routes.names(case)[result] for result in results]
    return all({op, f"_MklNative{op}", f"_MklNative{op}WithBias"} & called for op in wanted)


def row(case: Case, name: str, route: Callable) -> dict:
    data, before = exact(case), calls()
    found = {"row": f"{case} {name}", "exact": False, "ours": False, "error": ""}
    try:
        results = route(case, data)
    except (tf.errors.OpError, ValueError) as refused:
        return {**found, "error": str(refused)[:200]}
    found["exact"] = all(
        np.array_equal(value.numpy(), tf.cast(getattr(data, key), case.dtype).numpy()) for key, value in results.items()
    )
    return {**found, "ours": ours(before, case, results)}


if __name__ == "__main__":
    which, choice = sys.argv[1:]
    if choice != "plain":
        convgrad.tensorflow.install(onednn={"fast": None, "all": True}[choice])
    cases, by = (MATRIX, routes.MATRIX) if which == "matrix" else (MORE, routes.EAGER)
    print(json.dumps([row(case, name, route) for case in cases for name, route in by.items()]))

"""Serves a rival to compare.py: a cell as one line of JSON in, its outcome as one line out.

A rival has a version and ways(cell, operands): the calls by which a user could have the cell computed. Each way is
checked and timed, and the fastest counts.
"""
import collections
import gc
import json
import os
import re
import statistics
import sys
import time

from cells import WRONG, Cell, Operands

LEAST_CALLS = 3
LONGEST = 3.0  # seconds of timed calls, where a call is so slow that three of them take longer

# call() computes and waits for the result; read(result) is the same channels last, as a NumPy array.
Way = collections.namedtuple("Way", "name call read")


def first_line(error):
    """What the framework says, without the name of the node that TensorFlow puts first."""
    lines = re.sub(r"\{\{.*?\}\} ?", "", str(error)).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]


def timed_calls(call, seconds):
    """One thread by the processor's time, so that others on a shared core do not count; several by the wall clock."""
    clock = time.process_time if int(sys.argv[1]) == 1 else time.perf_counter
    times = []
    while sum(times) < seconds or len(times) < LEAST_CALLS:
        start = clock()
        call()
        times.append(clock() - start)
        if sum(times) > LONGEST:
            break
    return times


def measure_way(way, cell, operands):
    error = operands.error(cell.op, way.read(way.call()))
    if not error <= WRONG[cell.dtype]:
        return {"outcome": "wrong", "reason": f"{way.name}: error {error:.3g}", "error": str(error)}
    way.call()  # warms what the check has cooled
    times = timed_calls(way.call, cell.seconds)
    return {"outcome": "ok", "kernel": way.name, "ms": min(times) * 1e3, "median_ms": statistics.median(times) * 1e3,
            "error": error}


def better(a, b):
    """A way that works over one that is wrong, the faster of two that work."""
    if b["outcome"] == "ok" and (a is None or a["outcome"] != "ok" or b["ms"] < a["ms"]):
        return b
    return a or b


def measure(rival, cell, operands):
    best, refusals = None, []
    try:
        for way in rival.ways(cell, operands):
            try:
                best = better(best, measure_way(way, cell, operands))
            except Exception as error:
                refusals.append(f"{way.name}: {first_line(error)}")
    except Exception as error:
        refusals.append(first_line(error))
    return best or {"outcome": "refused", "reason": "; ".join(refusals)}


def serve(make_rival):
    """make_rival(threads); runs until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints must not fall between the answers

    def answer(line):
        print(json.dumps(line), file=answers, flush=True)

    rival = make_rival(int(sys.argv[1]))
    answer({"ready": rival.version})
    operands = None
    gc.disable()
    gc.freeze()  # a framework's own objects need not be walked after every cell
    for line in sys.stdin:
        cell = Cell(json.loads(line))
        if operands is None or (operands.layer.name, operands.dtype) != (cell.layer.name, cell.dtype):
            operands = Operands(cell.layer, cell.dtype)
        answer(measure(rival, cell, operands))
        gc.collect()

#!/usr/bin/env python3
"""Tables of what tools/gpu_check left in a folder: bench/gpu_report.py FOLDER.

FOLDER/report.md has all of it, as Markdown for docs/benchmarks.md: check.jsonl as a table of kernels, ours.jsonl and
peers.jsonl as a table of cells and their means. A factor is cuDNN's time over ours: above 1 convgrad is the faster one.
What is short is printed. Exits with 1 when an answer was wrong or missing.
"""
import collections
import json
import math
import pathlib
import sys

CELL = ("shape", "dtype", "layout", "op")


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def kernels_table(rows):
    """By kernel: problems it took part in, how many of them went wrong, the first of those."""
    problems, wrong, first = collections.Counter(), collections.Counter(), {}
    for row in rows:
        problems.update(row["kernels"])
        if row["faults"]:
            wrong.update(row["kernels"])
            for kernel in row["kernels"]:
                first.setdefault(kernel, f"{row['problem']}: {row['faults'][0]}")
    lines = ["| kernel | problems | wrong | first wrong |", "|---|---|---|---|"]
    return lines + [f"| {name} | {count} | {wrong[name]} | {first.get(name, '')} |"
                    for name, count in sorted(problems.items())]


def check_summary(rows):
    """Sentences; the first 10 of what went wrong."""
    faulty = [row for row in rows if row["faults"]]
    kernels = {kernel for row in rows for kernel in row["kernels"]}
    wrong = {kernel for row in faulty for kernel in row["kernels"]}
    counts = f"{len(rows)} problems checked on {len(kernels)} kernels, {len(faulty)} wrong, by {len(wrong)} kernels"
    return [counts] + [f"wrong: {row['problem']} by {', '.join(row['kernels'])}: {row['faults'][0]}"
                       for row in faulty[:10]]


def timed(rows):
    """{cell: row} of the rows with a time and a right answer."""
    return {tuple(row[key] for key in CELL): row for row in rows if "us" in row and row.get("right", True)}


def pairs_of(ours, peers):
    """(our row, cuDNN's row or None); cuDNN's TF32 stands beside our tf32 and beside our f32."""
    for cell, row in ours.items():
        yield row, peers.get(cell)
        fast = peers.get((cell[0], "tf32", *cell[2:])) if cell[1] == "f32" else None
        if fast:
            yield {**row, "dtype": "f32, theirs tf32"}, fast


def factor(ours, theirs):
    return theirs["us"] / ours["us"]


def cells_table(pairs):
    lines = ["| shape | dtype | layout | op | kernel | us | TF/s | GB/s | cuDNN us | factor |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for ours, theirs in pairs:
        named = [ours[key] for key in (*CELL, "kernel")]
        figures = [f"{ours['us']:.1f}", f"{ours['tflops']:.1f}", f"{ours['gbs']:.0f}"]
        beside = [f"{theirs['us']:.1f}", f"{factor(ours, theirs):.2f}"] if theirs else ["-", "-"]
        lines.append("| " + " | ".join(named + figures + beside) + " |")
    return lines


def means_table(pairs):
    kinds = collections.defaultdict(list)
    for ours, theirs in pairs:
        if theirs:
            kinds[ours["dtype"], ours["layout"], ours["op"]].append(factor(ours, theirs))
    lines = ["| dtype | layout | op | cells | factor, geometric mean | least | most | faster in |",
             "|---|---|---|---|---|---|---|---|"]
    for kind, found in sorted(kinds.items()):
        mean = math.exp(sum(map(math.log, found)) / len(found))
        faster = sum(value > 1 for value in found)
        lines.append("| " + " | ".join(kind) +
                     f" | {len(found)} | {mean:.2f} | {min(found):.2f} | {max(found):.2f} | {faster} |")
    return lines


def times_summary(ours):
    """Sentences about the rows that do not count; the first 10."""
    bad = bad_rows(ours)
    named = [f"not counted: {row.get('problem', row['shape'])}: {row.get('error', 'wrong answer')}" for row in bad[:10]]
    return [f"{len(ours)} rows of times, {len(bad)} not counted"] + named


def bad_rows(ours):
    return [row for row in ours if "us" not in row or not row["right"]]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: bench/gpu_report.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    checks, ours, peers = (rows_of(folder / f"{name}.jsonl") for name in ("check", "ours", "peers"))
    pairs = list(pairs_of(timed(ours), timed(peers)))
    short = (means_table(pairs) + [""] + times_summary(ours) if ours else []) + check_summary(checks)
    whole = (kernels_table(checks) + [""] if checks else []) + (cells_table(pairs) + [""] if pairs else []) + short
    (folder / "report.md").write_text("\n".join(whole) + "\n")
    print(*short, sep="\n")
    sys.exit(1 if bad_rows(ours) or any(row["faults"] for row in checks) else 0)


if __name__ == "__main__":
    main()

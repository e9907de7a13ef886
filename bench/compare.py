#!/usr/bin/env python3
"""Ours against theirs, layer by layer in one run: bench/compare.py --help.

Writes every row, ours and the rivals', into NAME.json and a plot into NAME.svg; prints the ratios.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "peers"))
from cells import Layer  # noqa: E402
from rivals import RIVALS, Rival, cores_for, thread_environment  # noqa: E402

import compare_plot  # noqa: E402
import compare_report  # noqa: E402

SIXTEEN_BITS = ("bf16", "f16")
PEAK = {"f64": "f64_gflops_per_core"}


def words(text):
    return text.split(",")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", type=pathlib.Path, default=ROOT / "bench" / "shapes.json")
    parser.add_argument("--convgrad", type=pathlib.Path, default=ROOT / "build" / "release" / "cli" / "convgrad")
    parser.add_argument("--match", default="", help="only shapes with this in their name")
    parser.add_argument("--ops", type=words, default=["filter", "input", "forward"])
    parser.add_argument("--dtypes", type=words, default=["f32", "f64", "bf16", "f16"])
    parser.add_argument("--layouts", type=words, default=["last", "first"])
    parser.add_argument("--rivals", type=words, default=list(RIVALS), help="of " + ",".join(RIVALS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.4, help="of timed calls a cell")
    parser.add_argument("--cap", type=float, default=30, help="seconds after which a rival's cell is given up")
    parser.add_argument("--name", type=pathlib.Path, default=None, help="results without their suffix")
    parser.add_argument("--resume", action="store_true", help="keep the layers that NAME.json already has")
    asked = parser.parse_args()
    asked.name = asked.name or ROOT / "bench" / "results" / f"compare-{asked.threads}"
    return asked


def measure_ours(asked, shape):
    """The report of `convgrad bench` for one layer."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [asked.convgrad, "bench", asked.shapes, "--match", shape["name"], "--ops", ",".join(asked.ops),
                   "--dtypes", ",".join(asked.dtypes), "--layouts", ",".join(asked.layouts), "--threads",
                   str(asked.threads), "--seconds", str(asked.seconds), "--json", file.name]
        subprocess.run(command, stdout=subprocess.DEVNULL, env={**os.environ, **thread_environment(asked.threads)},
                       preexec_fn=lambda: os.sched_setaffinity(0, cores_for(asked.threads)))
        text = file.read()
    if not text:
        raise SystemExit(f"compare.py: {asked.convgrad} gave no rows for {shape['name']}")
    report = json.loads(text)
    report["rows"] = [{"peer": "convgrad", "outcome": "ok" if row["verified"] else "wrong", **row}
                      for row in report["rows"] if row["shape"] == shape["name"]]
    return report


def peer_row(name, ours, outcome, peak):
    """A rival's row in the form of ours, the cell's own words taken from there."""
    row = {"peer": name, **{key: ours[key] for key in ("shape", "dtype", "op", "layout", "threads", "problem")}}
    row.update({"ms": None, "median_ms": None, "gflops": None, "peak_fraction": None, "kernel": "", "isa": "",
                "verified": outcome["outcome"] == "ok", **outcome})
    if row["ms"] is not None:
        row["gflops"] = peak["flops"] / row["ms"] * 1e-6
        row["peak_fraction"] = row["gflops"] / (peak["gflops"] * ours["threads"])
    return row


class Comparison:
    def __init__(self, asked):
        self.asked = asked
        self.rivals = [Rival(name, asked.threads) for name in asked.rivals]
        self.report = {"machine": {}, "versions": {}, "rows": []}
        self.too_slow = set()
        path = asked.name.with_suffix(".json")
        if asked.resume and path.exists():
            self.report = json.loads(path.read_text())

    def save(self):
        self.asked.name.parent.mkdir(parents=True, exist_ok=True)
        self.report["versions"].update({rival.name: rival.version for rival in self.rivals if rival.version})
        path = self.asked.name.with_suffix(".json")
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(self.report, indent=1) + "\n")
        unfinished.replace(path)

    def outcome(self, rival, shape, ours, cast):
        """A rival that is too slow for an op on a layer in f32 is not asked for it in 16 bits."""
        slow = (rival.name, shape["name"], ours["op"], ours["layout"])
        if slow in self.too_slow and ours["dtype"] in SIXTEEN_BITS:
            return {"outcome": "timeout", "reason": "not asked: f32 took too long"}
        request = {"shape": shape, "cast": cast, "seconds": self.asked.seconds,
                   **{key: ours[key] for key in ("op", "dtype", "layout")}}
        outcome = rival.ask_fairly(request, self.asked.cap)
        if outcome["outcome"] == "timeout" and ours["dtype"] == "f32":
            self.too_slow.add(slow)
        return {**outcome, "engine": rival.version}

    def measure(self, shape):
        report = measure_ours(self.asked, shape)
        self.report["machine"] = report["machine"]
        rows = list(report["rows"])
        for rival in self.rivals:
            for ours in report["rows"]:
                peak = {"flops": Layer(shape).flops(),
                        "gflops": report["machine"][PEAK.get(ours["dtype"], "f32_gflops_per_core")]}
                for cast in (False, True) if ours["dtype"] in SIXTEEN_BITS else (False,):
                    name = rival.name + ("+cast" if cast else "")
                    rows.append(peer_row(name, ours, self.outcome(rival, shape, ours, cast), peak))
        self.report["rows"] += rows
        self.save()
        return rows

    def run(self):
        shapes = json.loads(self.asked.shapes.read_text())["shapes"]
        done = {row["shape"] for row in self.report["rows"]}
        compare_report.print_head()
        for shape in shapes:
            if self.asked.match in shape["name"] and shape["name"] not in done:
                compare_report.print_cells(self.measure(shape))
        for rival in self.rivals:
            rival.kill()


def main():
    comparison = Comparison(arguments())
    comparison.run()
    rows = comparison.report["rows"]
    compare_report.print_summary(rows)
    compare_plot.draw(comparison.report, comparison.asked.name.with_suffix(".svg"))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Ours and cuDNN's times on a GPU, shape by shape in turns: bench/gpu_time.py --help.

Rows go to OUT/ours.jsonl and OUT/peers.jsonl; shapes that are there already are not timed again. What goes wrong
with one shape is a row with "error", and the next shape follows.
"""
import argparse
import json
import pathlib
import queue
import subprocess
import sys
import threading
import time

import gpu_cells

FOLDER = pathlib.Path(__file__).resolve().parent
PATIENCE = 150  # seconds for one shape


def words(text):
    return text.split(",")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, default=FOLDER.parent / "build" / "gpu" / "bench" / "gpu_time")
    parser.add_argument("--out", type=pathlib.Path, default=FOLDER.parent / "build" / "gpu-check")
    parser.add_argument("--seconds", type=float, default=400, help="no shape is begun after them")
    parser.add_argument("--match", default="", help="only shapes with this in their name")
    parser.add_argument("--dtypes", type=words, default=gpu_cells.DTYPES)
    parser.add_argument("--layouts", type=words, default=gpu_cells.LAYOUTS)
    parser.add_argument("--ops", type=words, default=gpu_cells.OPS)
    parser.add_argument("--only", choices=("ours", "peers"), help="one side alone")
    parser.add_argument("--list", action="store_true", help="print the cells and time nothing")
    return parser.parse_args()


class Rows:
    """A file of rows that grows. Shapes whose rows do not all name their cell were cut short: they are taken out."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self.shapes = {row["shape"] for row in rows} - {row["shape"] for row in rows if "op" not in row}
        path.write_text("")
        self.add(row for row in rows if row["shape"] in self.shapes)

    def add(self, rows):
        with self.path.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


class Ours:
    """A process a shape: one that is lost takes no other with it."""

    def __init__(self, program):
        self.program = program
        self.obstacle = self.why_not()
        if self.obstacle:
            print(self.obstacle, file=sys.stderr)

    def why_not(self):
        try:
            done = subprocess.run([self.program], input="", capture_output=True, text=True, timeout=PATIENCE)
        except OSError as error:
            return f"gpu_time: {error}"
        return done.stderr.strip() if done.returncode != 0 else ""

    def rows(self, shape, asked):
        if self.obstacle:
            return []
        layer = gpu_cells.Layer(shape)
        cells = gpu_cells.cells(asked.dtypes, asked.layouts, asked.ops)
        lines = "".join(f"{layer.line(cell)}\n" for cell in cells)
        try:
            done = subprocess.run([self.program], input=lines, capture_output=True, text=True, timeout=PATIENCE)
            out, said = done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            out, said = (late.stdout or b"").decode(), f"no end within {PATIENCE} s"
        rows = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
        missing = len(cells) - len(rows)
        return rows + [{"shape": layer.name, "error": f"{missing} cells have no row: {said.strip()}"}] * (missing > 0)


class Theirs:
    """One process for all shapes, for PyTorch takes seconds to start; a new one after a failure."""

    def __init__(self):
        self.process = None
        self.obstacle = self.why_not()
        if self.obstacle:
            print(self.obstacle, file=sys.stderr)

    @staticmethod
    def command(*options):
        return [sys.executable, FOLDER / "gpu_peers.py", *options]

    def why_not(self):
        return subprocess.run(self.command("--check"), capture_output=True, text=True).stderr.strip()

    def start(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.listen, args=(self.process.stdout, self.lines), daemon=True).start()

    @staticmethod
    def listen(stream, lines):
        for line in stream:
            lines.put(line)
        lines.put("")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None

    def rows(self, shape, asked):
        if self.obstacle:
            return []
        if self.process is None:
            self.start()
        request = {"shape": shape, "dtypes": asked.dtypes, "layouts": asked.layouts, "ops": asked.ops}
        rows, end = [], time.monotonic() + PATIENCE
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            while not rows or "done" not in rows[-1]:
                rows.append(json.loads(self.lines.get(timeout=max(0.1, end - time.monotonic()))))
            return rows[:-1]
        except (queue.Empty, ValueError, OSError) as error:
            self.stop()
            return rows + [{"shape": shape["name"], "error": f"cuDNN's process was lost: {type(error).__name__}"}]


def time_shapes(asked, shapes):
    """Whether there was something to run on."""
    sides = {}
    if asked.only != "peers":
        sides["ours"] = Ours(asked.program), Rows(asked.out / "ours.jsonl")
    if asked.only != "ours":
        sides["peers"] = Theirs(), Rows(asked.out / "peers.jsonl")
    if all(side.obstacle for side, _ in sides.values()):
        return False
    end = time.monotonic() + asked.seconds
    for shape in shapes:
        for name, (side, kept) in sides.items():
            if shape["name"] in kept.shapes:
                continue
            if time.monotonic() > end:
                print(f"gpu_time: {asked.seconds:g} s are over before {shape['name']}; run it again to go on")
                return True
            rows = side.rows(shape, asked)
            kept.add(rows)
            if side.obstacle:
                continue
            bad = sum("error" in row and "us" not in row or row.get("right") is False for row in rows)
            print(f"{shape['name']:<28} {name:<6} {len(rows):>3} rows, {bad} bad", flush=True)
    return True


def main():
    asked = arguments()
    shapes = [shape for shape in gpu_cells.shapes() if asked.match in shape["name"]]
    if not asked.list:
        return 0 if time_shapes(asked, shapes) else 2
    for layer in map(gpu_cells.Layer, shapes):
        for cell in gpu_cells.cells(asked.dtypes, asked.layouts, asked.ops):
            print(layer.line(cell))
    return 0


if __name__ == "__main__":
    sys.exit(main())

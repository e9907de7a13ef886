#!/usr/bin/env python3
"""Proves tools/check_includes: a clean tree passes, and each kind of forbidden include is reported."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_includes"

CLEAN = {
    "include/convgrad/status.h": '#include <string>\n#include "convgrad/export.h"\n',
    "src/base/pool.cc": '#include "base/pool.h"\n#include <pthread.h>\n#include "convgrad/threads.h"\n',
    "src/geometry/validate.cc": '#include "base/rules.h"\n#include "geometry/checks.h"\n#include "convgrad/ops.inc"\n',
    "src/reference/reference.cc": '#include "reference/reference.h"\n#include "geometry/shapes.h"\n',
    "src/engines/spread.cc": '#include "base/pool.h"\n#include "engines/spread.h"\n',
    "src/engines/cpu/kernels/tile.cc": '#include "engines/cpu/simd/vec.h"\n#include <hwy/highway.h>\n',
    "src/engines/reference/engine.cc": '#include "reference/reference.h"\n#include "engines/engine.h"\n',
    "src/planner/planner.cc": '#include "engines/engine.h"\n#include "convgrad/plan.h"\n',
    "src/api/run.cc": '#include "planner/cache.h"\n#include "geometry/shapes.h"\n#include "convgrad/conv.h"\n',
    "src/c_api/convgrad_c.cc": '#include "convgrad/convgrad.h"\n',
    "cli/main.cc": '#include <CLI/CLI.hpp>\n#include <fmt/format.h>\n#include "table.h"\n#include "cli/table.h"\n',
    "cli/table.h": "// #include \"base/pool.h\" in a comment is no include\n",
    "python/bind.cc": '#include <pybind11/pybind11.h>\n#include "convgrad/convgrad.h"\n',
    "studio/server/serve.cc": '#include "httplib.h"\n#include <nlohmann/json.hpp>\n',
}

# (file, what it must not include, why)
FORBIDDEN = [
    ("include/convgrad/tensor.h", "base/buffer.h", "public headers see only public headers"),
    ("include/convgrad/conv.h", "fmt/format.h", "public headers bring no third party along"),
    ("src/base/text.cc", "geometry/shapes.h", "base knows nobody"),
    ("src/base/text.cc", "convgrad/problem.h", "base knows no problems"),
    ("src/base/text.cc", "fmt/format.h", "core rooms have no third party"),
    ("src/geometry/window.cc", "base/pool.h", "geometry knows no threads"),
    ("src/geometry/window.cc", "base/machine.h", "geometry knows no threads"),
    ("src/geometry/window.cc", "engines/engine.h", "geometry knows no engines"),
    ("src/geometry/window.cc", "convgrad/plan.h", "geometry knows no plans"),
    ("src/reference/reference.cc", "engines/engine.h", "the reference knows no engines"),
    ("src/reference/reference.cc", "immintrin.h", "the reference has no intrinsics"),
    ("src/engines/cpu/engine.cc", "engines/cuda/engine.h", "one engine never includes another"),
    ("src/engines/cpu/engine.cc", "reference/reference.h", "only the reference engine sees the reference"),
    ("src/engines/cpu/engine.cc", "planner/planner.h", "engines know no planner"),
    ("src/engines/engines.cc", "engines/cpu/tile.h", "the list of engines knows no engine's inside"),
    ("src/planner/planner.cc", "engines/cpu/tile.h", "the planner knows no kernels"),
    ("src/planner/planner.cc", "engines/spread.h", "the planner runs nothing"),
    ("src/planner/planner.cc", "convgrad/conv.h", "the planner knows no eager calls"),
    ("src/api/run.cc", "engines/spread.h", "the api knows only the engine row"),
    ("src/api/run.cc", "reference/reference.h", "the api knows no reference"),
    ("src/c_api/convgrad_c.cc", "base/text.h", "the C interface sees only the public one"),
    ("src/c_api/convgrad_c.cc", "nlohmann/json.hpp", "core rooms have no third party"),
    ("src/attic/old.cc", "convgrad/conv.h", "a room must stand in the table"),
    ("src/graph/graph.cc", "engines/engine.h", "graphs see no engine"),
    ("src/pages/text.cc", "graph/row.h", "pages see what everybody sees of a graph"),
    ("cli/main.cc", "base/text.h", "the command line sees only the public headers"),
    ("cli/main.cc", "../src/base/text.h", "nor by a detour"),
    ("cli/main.cc", "missing.h", "nor what is not there"),
    ("python/bind.cc", "api/guard.h", "Python sees only the public headers"),
    ("studio/server/serve.cc", "planner/planner.h", "the studio sees only the public headers"),
    ("studio/server/serve.cc", "cli/terminal.h", "and of the command line what both share"),
]


def check(tree):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tree.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, CHECKER, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()


class CheckIncludes(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        self.assertEqual(check(CLEAN), (0, []))

    def test_each_forbidden_include_is_reported_with_its_line(self):
        for name, target, why in FORBIDDEN:
            with self.subTest(file=name, target=target, why=why):
                code, lines = check(CLEAN | {name: f'// one line of purpose\n#include "{target}"\n'})
                self.assertEqual((code, len(lines)), (1, 1), lines)
                self.assertIn(f"{name}:2: includes {target};", lines[0])

    def test_every_violation_of_a_tree_is_reported(self):
        tree = {"src/base/a.cc": '#include "api/guard.h"\n#include <vector>\n  #  include <fmt/format.h>\n'}
        code, lines = check(tree)
        self.assertEqual(code, 1)
        self.assertEqual([line.split(":")[1] for line in lines], ["1", "3"])
        self.assertIn("src/base may include: convgrad/export.h", lines[0])


if __name__ == "__main__":
    unittest.main()

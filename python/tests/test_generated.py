"""Files that are printed from the library: raw_ops.py from the op table, _core.pyi from the module."""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys

import pytest

import convgrad

SOURCES = pathlib.Path(__file__).parent.parent
PACKAGE = pathlib.Path(convgrad.__file__).parent


def test_raw_ops_are_those_of_the_table() -> None:
    made = subprocess.run(
        [sys.executable, SOURCES / "generate" / "raw_ops.py"], capture_output=True, text=True, check=True
    )
    assert made.stdout == (PACKAGE / "raw_ops.py").read_text()


@pytest.mark.skipif(importlib.util.find_spec("nanobind") is None, reason="the stub generator is nanobind's")
def test_the_stub_is_that_of_the_module(tmp_path: pathlib.Path) -> None:
    stub = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "convgrad._core", "-o", stub], check=True)
    assert stub.read_text() == (PACKAGE / "_core.pyi").read_text()


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


def test_the_command_line_is_there() -> None:
    answer = subprocess.run([sys.executable, "-m", "convgrad", "--version"], capture_output=True, text=True, check=True)
    assert convgrad.__version__ in answer.stdout


def test_an_exit_code_comes_through() -> None:
    answer = subprocess.run([sys.executable, "-m", "convgrad", "explain", "nonsense"], capture_output=True, text=True)
    assert answer.returncode not in (0, None)
    assert "nonsense" in answer.stderr + answer.stdout

"""install(): once, late, without TensorFlow, with its choices; enable and disable."""

import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from conftest import ROOT, environment

import convgrad

FORWARD = {"Conv2D", "Conv3D", "DepthwiseConv2dNative"}


def table(routes: str = "own onednn onednn_asked onednn_no_bf16") -> dict[str, list[str]]:
    """The rows of ops.inc of these routes: dtypes by op."""
    types = {"kHalf": ["float16"], "kBFloat16": ["bfloat16"], "kFloat": ["float32"], "kDouble": ["float64"]}
    types |= {"kInt32": ["int32"], "kFloats": ["float16", "bfloat16", "float32", "float64"]}
    rows = re.findall(r"^CONVGRAD_TF_OP\((.*)\)$", (ROOT / "plugins/tensorflow/ops.inc").read_text(), re.M)
    found: dict[str, list[str]] = {}
    for name, _, _, _, dtypes, route in (row.split(", ") for row in rows):
        if route in routes.split():
            found.setdefault(name, []).extend(name for word in dtypes.split(" | ") for name in types[word])
    return {name: sorted(dtypes) for name, dtypes in found.items()}


def test_a_second_install_is_refused_and_breaks_nothing(run_child: Callable) -> None:
    found = run_child("installing.py", "twice")
    assert found["before"] == {}
    assert found["count"] == sum(map(len, table().values()))
    assert found["second"].startswith("RuntimeError: convgrad is installed in this process's TensorFlow already")
    assert found["stats"]["Conv2DBackpropFilter"]["float64"] == 1


def test_onednn_names_are_never_registered_for_types_their_definition_may_lack() -> None:
    assert all(set(types) <= {"bfloat16", "float32"} for name, types in table().items() if name.startswith("_Mkl"))


def test_installed_after_first_use_eager_ops_change_over_and_a_warning_says_what_does_not(run_child: Callable) -> None:
    found = run_child("installing.py", "late")
    assert "Error" in found["first"]
    assert found["then"] == ""
    assert any("before convgrad.tensorflow.install()" in text for text in found["warnings"])


def test_without_tensorflow_install_says_so(run_child: Callable) -> None:
    found = run_child("installing.py", "absent")
    assert (
        found["install"] == "ImportError: convgrad.tensorflow.install() needs TensorFlow, which is not installed here"
    )
    assert found["stats"] == {}


def test_the_library_alone_says_that_tensorflow_is_missing(run_child: Callable) -> None:
    found = run_child("installing.py", "alone")
    assert found["count"] == -1
    assert "import tensorflow first" in found["message"]


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        ({"forward": False, "onednn": True}, lambda op: op.removeprefix("_MklNative") in FORWARD),
        ({"onednn": False}, lambda op: op.startswith("_Mkl")),
    ],
    ids=["no_forward", "no_onednn"],
)
def test_a_choice_leaves_ops_to_tensorflow(run_child: Callable, choice: dict, left: Callable) -> None:
    found = run_child("installing.py", "choices", CHOICE=json.dumps(choice))
    assert found == {op: types for op, types in table().items() if not left(op)}


def test_left_alone_it_takes_what_it_is_not_slower_at_on_this_cpu(run_child: Callable) -> None:
    found = run_child("installing.py", "choices", CHOICE="{}")
    arithmetic = {"avx512bf16", "amx_bf16"} & set(convgrad._core.config()["features"])
    assert found == table("own onednn" if arithmetic else "own onednn onednn_no_bf16")


def command(*arguments: str, site_packages: pathlib.Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "convgrad", "tensorflow", *arguments, "--site-packages", str(site_packages)],
        env=environment(True), capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return done.stdout


@pytest.fixture(name="site_packages")
def a_site_packages_folder(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return folder


def path_with(site_packages: pathlib.Path) -> str:
    return environment(True)["PYTHONPATH"] + ":" + str(site_packages)


def test_enabled_import_tensorflow_installs_and_disable_ends_it(
    run_child: Callable, site_packages: pathlib.Path
) -> None:
    assert command("enable", site_packages=site_packages).startswith("enabled: ")
    found = run_child("installing.py", "loaded", PYTHONPATH=path_with(site_packages))
    assert found == {"gradient": "", "calls": 1}
    off = run_child("installing.py", "loaded", PYTHONPATH=path_with(site_packages), CONVGRAD_TENSORFLOW="0")
    assert off["calls"] == 0
    assert command("disable", site_packages=site_packages) == "disabled\n"
    assert list(site_packages.iterdir()) == []
    assert command("disable", site_packages=site_packages) == "was not enabled\n"


def test_tensorflow_still_starts_when_the_enabled_package_is_gone(
    run_child: Callable, site_packages: pathlib.Path
) -> None:
    command("enable", site_packages=site_packages)
    settings = site_packages / "tensorflow-plugins/convgrad.txt"
    settings.write_text("/nowhere/_tensorflow.so\n1 1 0\n")
    assert run_child("installing.py", "loaded", PYTHONPATH=path_with(site_packages))["calls"] == 0

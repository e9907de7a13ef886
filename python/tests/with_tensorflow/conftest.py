"""Each scene runs in a process of its own: TensorFlow keeps kernels until its process ends, and some inputs used to end
it. A child prints its answer as JSON on its last line."""

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
BUILT = ROOT / "build/release/python"


def environment(onednn: bool, **more: str) -> dict[str, str]:
    """Of a child: where the package lies, oneDNN on or off, and little talk from TensorFlow."""
    package = BUILT if (BUILT / "convgrad/tensorflow.py").exists() else ROOT / "python"
    path = os.pathsep.join([str(package), str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    library = os.environ.get("CONVGRAD_TENSORFLOW_LIBRARY", str(BUILT / "convgrad/_tensorflow.so"))
    talk = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": str(int(onednn)), "CUDA_VISIBLE_DEVICES": "-1"}
    return {**os.environ, **talk, "PYTHONPATH": path, "CONVGRAD_TENSORFLOW_LIBRARY": library, **more}


def run_child(script: str, *arguments: str, onednn: bool = True, **more: str) -> Any:
    done = subprocess.run(
        [sys.executable, str(HERE / "children" / script), *arguments],
        env=environment(onednn, **more),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{script} {arguments} ended with {done.returncode}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(name="run_child", scope="session")
def run_child_fixture() -> Callable:
    return run_child


@pytest.fixture(params=[False, True], ids=["onednn_off", "onednn_on"], scope="session")
def onednn(request: pytest.FixtureRequest) -> bool:
    return request.param

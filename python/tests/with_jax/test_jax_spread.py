"""A batch spread over two devices; each case in a process of its own, for the devices are counted when JAX starts."""

import os
import pathlib
import subprocess
import sys

import jax
import pytest


@pytest.mark.parametrize("case", ["jit", "manual", "other_axis", "mapped", "unnamed", "explicit"])
def test_a_spread_batch(case):
    if case == "explicit" and not jax.__version__.startswith("0.10."):
        pytest.skip("XLA of other versions refuses the sum of filter gradients over explicit axes")
    script = pathlib.Path(__file__).with_name("jax_spread.py")
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, str(script), case], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]

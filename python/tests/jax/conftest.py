"""Tests of convgrad.jax; skipped where JAX is not installed."""

import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

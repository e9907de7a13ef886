"""Tests of convgrad.jax; there are none where JAX is not installed."""

import importlib.util

if importlib.util.find_spec("jax") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    import jax

    jax.config.update("jax_enable_x64", True)

"""What was compared, and where."""

from __future__ import annotations

import importlib.metadata
import pathlib
import re

PACKAGES = {"TensorFlow": ("tensorflow", "tensorflow-cpu"), "PyTorch": ("torch",), "JAX": ("jax",)}


def versions() -> dict[str, str]:
    """By the frameworks' names; those that are there."""
    found = {}
    for framework, names in PACKAGES.items():
        for name in names:
            try:
                found[framework] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
    return found


def cpu_name() -> str:
    """The processor's name and the instruction sets that choose oneDNN's kernels."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*: (.*)", text)
    numbers = [re.search(rf"{key}\s*: (\d+)", text) for key in ("cpu family", "model\t")]
    flags = set(text.split())
    known = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16") if flag in flags]
    family = ", ".join(f"{key} {m[1]}" for key, m in zip(("family", "model"), numbers) if m)
    return f"{name[1].strip() if name else 'unknown'} ({family}; {' '.join(known)})"

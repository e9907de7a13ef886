"""What convgrad is and what it found here."""

from __future__ import annotations

from typing import Any

from ._core import config
from .errors import refusal


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Prints version, CPU, instruction set, threads and engines; ``mode="dicts"`` returns them instead."""
    facts: dict[str, Any] = config()
    if mode == "dicts":
        return facts
    if mode != "stdout":
        raise refusal("mode", repr(mode), '"stdout" or "dicts"')
    for name, value in facts.items():
        parts = [f"{key}: {text}" for key, text in value.items()] if isinstance(value, dict) else value
        text = "\n                  ".join(parts) if isinstance(value, dict) else parts
        print(f"{name:<16}  {' '.join(text) if isinstance(text, list) else text}")
    return None

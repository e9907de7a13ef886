"""Counters that tell whose kernel ran."""

from __future__ import annotations

import threading

_NAMES = ("convgrad", "original", "refused", "modules")
_lock = threading.Lock()
_counts = dict.fromkeys(_NAMES, 0)


def count(name: str) -> None:
    with _lock:
        _counts[name] += 1


def stats() -> dict[str, int]:
    """Calls since the start or reset_stats().

    ``convgrad`` and ``original``: calls of convolution_backward that the one or the other gave something for (both
    count where they share a call). ``refused``: calls that went to the original because convgrad objected.
    ``modules``: convolutions of this module's layers, gradients included.
    """
    with _lock:
        return dict(_counts)


def reset_stats() -> None:
    with _lock:
        _counts.update(dict.fromkeys(_NAMES, 0))

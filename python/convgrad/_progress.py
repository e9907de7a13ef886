"""Progress of long runs: a callable that is told after every node."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

#: Called with the node's name, how many nodes are done, of how many, and the seconds that this one took.
Teller = Callable[[str, int, int, float], Any]


@contextlib.contextmanager
def teller(wanted: bool | Teller | None) -> Iterator[Teller | None]:
    """What a run is to call: the caller's own function, a bar, or nothing."""
    if callable(wanted):
        yield wanted
    elif not wanted:
        yield None
    else:
        with _bar() as tell:
            yield tell


@contextlib.contextmanager
def _bar() -> Iterator[Teller]:
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        yield _line
        print(file=sys.stderr)
        return
    with tqdm(unit="node") as bar:

        def tell(node: str, done: int, total: int, seconds: float) -> None:
            bar.total = total
            bar.set_postfix_str(node, refresh=False)
            bar.update(done - bar.n)

        yield tell


def _line(node: str, done: int, total: int, seconds: float) -> None:
    print(f"\r{done}/{total} {node[:40]:<40}", end="", file=sys.stderr, flush=True)

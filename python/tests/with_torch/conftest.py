from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import pytest
from torch_problems import DTYPES

import convgrad.torch
from convgrad import _torch_cells

sys.path.append(str(pathlib.Path(__file__).parents[1]))  # host_gpu


@pytest.fixture
def every_cell(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """convgrad takes every gradient, small ones too, so that tests can be small; installed for the test."""
    every = _torch_cells.Row(DTYPES, least_macs=0)
    monkeypatch.setattr(_torch_cells, "ROWS", [every])
    _torch_cells.taken.cache_clear()
    convgrad.torch.reset_stats()
    with convgrad.torch.enabled():
        yield
    _torch_cells.taken.cache_clear()


@pytest.fixture(autouse=True)
def counted_from_zero() -> Iterator[None]:
    convgrad.torch.reset_stats()
    yield
    assert not convgrad.torch.installed()

"""Every cell of rank, layout, type, dilation and groups, by every route, with exact values and counters."""

from collections.abc import Callable

import pytest


@pytest.fixture(scope="module")
def matrix(run_child: Callable, onednn: bool) -> dict:
    return {choice: run_child("rows.py", "matrix", choice, onednn=onednn) for choice in ("plain", "fast", "all")}


def failing(rows: list, key: str) -> list:
    return [row for row in rows if not row[key]]


def test_every_row_is_exact_and_ours_with_all_names(matrix: dict) -> None:
    assert len(matrix["all"]) == 160
    assert failing(matrix["all"], "exact") == []
    assert failing(matrix["all"], "ours") == []


def test_every_row_is_exact_by_default(matrix: dict) -> None:
    assert failing(matrix["fast"], "exact") == []


def test_by_default_only_forward_2d_f32_is_left_to_onednn(matrix: dict, onednn: bool) -> None:
    left = {row["row"] for row in failing(matrix["fast"], "ours")}
    wanted = {
        row["row"]
        for row in matrix["fast"]
        if onednn and "2d-" in row["row"] and "float32" in row["row"] and "tape" in row["row"]
    }
    assert left == wanted


def test_plain_tensorflow_refuses_most_rows(matrix: dict, onednn: bool) -> None:
    """The reason for the plug-in; should TensorFlow learn more, the documents are to say so."""
    answered = sum(row["exact"] for row in matrix["plain"])
    assert answered <= (70 if onednn else 20)
    assert failing(matrix["plain"], "ours") == matrix["plain"]


def test_other_types_strides_paddings_and_depthwise_are_exact_and_ours(run_child: Callable, onednn: bool) -> None:
    rows = run_child("rows.py", "more", "all", onednn=onednn)
    assert len(rows) == 156
    assert failing(rows, "exact") == []
    assert failing(rows, "ours") == []

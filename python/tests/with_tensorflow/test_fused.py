"""Convolution, bias and relu in a graph, which TensorFlow's optimizer makes one op that refuses groups."""

from collections.abc import Callable


def test_with_remapping_off_every_case_is_exact(run_child: Callable, onednn: bool) -> None:
    rows = run_child("fused.py", "off", onednn=onednn)
    assert len(rows) == 32
    assert [row for row in rows if not row["exact"]] == []


def test_with_remapping_left_on_only_fused_groups_are_refused(run_child: Callable, onednn: bool) -> None:
    rows = run_child("fused.py", "left", onednn=onednn)
    refused = [row for row in rows if not row["exact"]]
    assert all(row["groups"] == 2 for row in refused), refused
    assert len(refused) <= 4

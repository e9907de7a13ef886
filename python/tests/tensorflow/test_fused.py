"""Convolution, bias and relu in a graph, which TensorFlow's optimizer fuses into an op of its own that refuses groups."""


def test_with_remapping_off_every_case_is_exact(run_child, onednn):
    rows = run_child("fused.py", "off", onednn=onednn)
    assert len(rows) == 32
    assert [row for row in rows if not row["exact"]] == []


def test_with_remapping_left_on_only_fused_groups_are_refused(run_child, onednn):
    rows = run_child("fused.py", "left", onednn=onednn)
    refused = [row for row in rows if not row["exact"]]
    assert all(row["groups"] == 2 for row in refused), refused
    assert len(refused) <= 4

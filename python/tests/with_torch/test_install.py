"""Taking the op over and giving it back, and who ran."""

from __future__ import annotations

import threading

import pytest
import torch
from torch_problems import assert_right, random_call

import convgrad.torch
from convgrad import _torch_cells, _torch_run


def train_step() -> torch.Tensor:
    torch.manual_seed(0)
    layer = torch.nn.Conv3d(4, 4, 3, padding=1, groups=4, dtype=torch.double)
    layer(torch.randn(1, 4, 8, 8, 8, dtype=torch.double)).sum().backward()
    return layer.weight.grad


def ours() -> int:
    return convgrad.torch.stats()["convgrad"]


def test_nothing_is_taken_before_install() -> None:
    train_step()
    assert convgrad.torch.stats() == {"convgrad": 0, "original": 0, "refused": 0, "modules": 0}


def test_uninstall_restores_the_original() -> None:
    native = train_step()
    convgrad.torch.install()
    train_step()
    assert ours() == 1
    convgrad.torch.uninstall()
    assert torch.equal(train_step(), native)
    assert ours() == 1


def test_installing_twice_is_installing_once() -> None:
    convgrad.torch.install()
    convgrad.torch.install()
    train_step()
    assert ours() == 1
    convgrad.torch.uninstall()
    train_step()
    assert ours() == 1
    convgrad.torch.uninstall()


def test_enabled_nests() -> None:
    with convgrad.torch.enabled():
        with convgrad.torch.enabled():
            train_step()
        train_step()
        assert ours() == 2
    train_step()
    assert ours() == 2


def test_enabled_leaves_what_was_installed() -> None:
    convgrad.torch.install()
    with convgrad.torch.enabled():
        pass
    train_step()
    assert ours() == 1
    convgrad.torch.uninstall()


def test_enabled_ends_with_an_error_too() -> None:
    with pytest.raises(KeyError), convgrad.torch.enabled():
        raise KeyError
    assert not convgrad.torch.installed()


def test_four_threads_at_once(every_cell: None) -> None:
    call = random_call(5, torch.float32)
    call.mask = [True, True, False]
    alone = call.run()
    equal: list[bool] = []

    def work() -> None:
        for _ in range(20):
            equal.extend(torch.equal(a, b) for a, b in zip(call.run()[:2], alone))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert equal == [True] * 160
    assert ours() == 81


def test_tiny_calls_are_the_originals() -> None:
    with convgrad.torch.enabled():
        torch.nn.Conv2d(2, 2, 3)(torch.randn(1, 2, 5, 5)).sum().backward()
    assert convgrad.torch.stats()["original"] == 1
    assert ours() == 0


def test_shared_calls_count_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    row = _torch_cells.Row((torch.float32,), gradients="filter", least_macs=0)
    monkeypatch.setattr(_torch_cells, "ROWS", [row])
    _torch_cells.taken.cache_clear()
    call = random_call(4, torch.float32)
    call.mask = [True, True, True]
    native = call.run()
    with convgrad.torch.enabled():
        shared = call.run()
    _torch_cells.taken.cache_clear()
    assert convgrad.torch.stats() == {"convgrad": 1, "original": 1, "refused": 0, "modules": 0}
    assert torch.equal(shared[0], native[0])
    assert_right(call, shared)


def test_a_problem_has_convgrads_text() -> None:
    window = _torch_run.Window((1, 2), ((0, 1), (2, 2)), (1, 3), 2)
    problem = _torch_run.Problem((3, 4, 9, 8), (6, 2, 3, 2), (3, 6, 8, 5), window, torch.bfloat16, True)
    text = "n3c4h9w8_k6r3s2_st1x2_di1x3_pad0.1x2.2_g2_chlast_bf16_out8x5_filter_grad"
    assert _torch_run.problem_text(problem, "filter_grad") == text

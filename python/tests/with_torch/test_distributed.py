"""DistributedDataParallel over gloo, two processes on this machine: one step, equal to PyTorch's own kernel."""

from __future__ import annotations

import pathlib

import pytest
import torch
import torch.distributed
import torch.multiprocessing
from torch_problems import assert_close

import convgrad.torch

RANKS = 2


def model() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = [torch.nn.Conv3d(2, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv3d(8, 8, 3, groups=8)]
    return torch.nn.Sequential(*layers).double()


def batch() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(2 * RANKS, 2, 12, 12, 12, dtype=torch.double)


def step(module: torch.nn.Module, images: torch.Tensor) -> None:
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    module(images).square().mean().backward()
    optimizer.step()


def work(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=RANKS)
    replica = torch.nn.parallel.DistributedDataParallel(model())
    with convgrad.torch.enabled():
        step(replica, batch().chunk(RANKS)[rank])
    torch.save((replica.module.state_dict(), convgrad.torch.stats()), f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_one_step_of_two_processes_is_one_step_of_the_original(tmp_path: pathlib.Path) -> None:
    torch.multiprocessing.spawn(work, (str(tmp_path),), nprocs=RANKS)
    alone = model()
    step(alone, batch())
    for rank in range(RANKS):
        weights, counts = torch.load(tmp_path / f"{rank}.pt")
        assert counts["convgrad"] == 2
        assert counts["original"] == 0
        right = alone.state_dict()
        assert_close([weights[name] for name in right], list(right.values()), terms=batch().numel())

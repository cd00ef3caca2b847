"""Computes on one card in the parent and in two processes: `pool.py [pool|spawn]`."""

import sys

import torch
from figures import figures, result


def work(number: int) -> float:
    """Call a module three times."""
    torch.manual_seed(number)
    model = torch.nn.Linear(128 * (number + 1), 64).cuda()
    with torch.no_grad():
        for _ in range(3):
            total = model(torch.ones(32, 128 * (number + 1), device="cuda")).sum()
    figures(f"worker {number}")
    return round(total.item(), 3)


def started(number: int) -> None:
    """Work in a process of `spawn`."""
    work(number)


if __name__ == "__main__":
    result("parent", work(2))
    if sys.argv[1:] == ["spawn"]:
        torch.multiprocessing.spawn(started, nprocs=2)
    else:
        with torch.multiprocessing.get_context("spawn").Pool(2) as pool:
            result("workers", pool.map(work, [0, 1], chunksize=1))
            pool.close()
            pool.join()

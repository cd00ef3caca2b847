"""Trains on several processes, of which rank 1 computes 40 ms more in each step.

capture run -- torchrun --standalone --nproc-per-node 4 examples/slow_rank.py
"""

import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

SLOW_RANK = 1
DELAY_S = 0.04

dist.init_process_group("gloo")
torch.set_num_threads(1)
rank, size = dist.get_rank(), dist.get_world_size()
# Each rank creates all groups, in the same order, and is a member of one.
pairs = [dist.new_group(list(range(n, min(n + 2, size)))) for n in range(0, size, 2)]
pair = pairs[rank // 2]

model = DistributedDataParallel(torch.nn.Linear(256, 256))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
matrix = torch.randn(256, 256)


def compute_more() -> None:
    until = time.perf_counter() + DELAY_S
    while time.perf_counter() < until:
        torch.linalg.qr(matrix)


for _ in range(6):
    loss = model(torch.randn(16, 256)).square().mean()
    if rank == SLOW_RANK:
        compute_more()
    loss.backward()  # averages the gradients of all ranks
    optimizer.step()
    dist.all_reduce(loss.detach(), group=pair)

dist.destroy_process_group()

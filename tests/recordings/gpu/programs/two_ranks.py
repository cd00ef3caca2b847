"""Trains a small model on two ranks that share one card, with gloo: under torchrun."""

import os

import torch
from figures import figures, result

torch.manual_seed(0)
torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
torch.cuda.set_device(0)
model = torch.nn.Sequential(
    torch.nn.Linear(128, 256), torch.nn.GELU(), torch.nn.Linear(256, 1)
).cuda()
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(int(os.environ.get("STEPS", "3"))):
    loss = model(torch.randn(128, 128, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if os.environ.get("FAIL") == str(rank):
        torch.empty(1 << 42, device="cuda")
result(f"rank {rank}", f"{loss.item():.5f}")
figures(f"end of rank {rank}")
torch.distributed.barrier()
torch.distributed.destroy_process_group()

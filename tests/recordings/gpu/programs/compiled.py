"""Calls a compiled layer on CUDA with two batch sizes: `compiled.py [MODE]`."""

import sys

import torch
from figures import figures, result

torch.manual_seed(0)
mode = sys.argv[1] if sys.argv[1:] else None
layer = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64)).cuda()
model = torch.compile(layer, mode=mode)
with torch.no_grad():
    for size in (32, 32, 32, 16, 16, 16, 16, 16):
        made = model(torch.ones(size, 64, device="cuda"))
result("sum", f"{made.double().sum().item():.4f}")
figures("end")

"""Fails on the device: an index is out of range."""

import torch

model = torch.nn.Embedding(10, 4).cuda()
model(torch.tensor([1], device="cuda"))
model(torch.tensor([1], device="cuda"))
print("RESULT before", flush=True)
model(torch.tensor([10_000_000], device="cuda"))
torch.cuda.synchronize()
print("RESULT after", flush=True)

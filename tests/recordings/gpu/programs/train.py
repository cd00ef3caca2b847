"""Trains a small model on CUDA: `train.py [--compile MODE] [--steps N] [--release]`."""

import argparse

import torch
from figures import figures, release, result

parser = argparse.ArgumentParser()
parser.add_argument("--compile", metavar="MODE")
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--width", type=int, default=256)
parser.add_argument("--release", action="store_true")
args = parser.parse_args()

torch.manual_seed(0)


class Block(torch.nn.Module):
    """A normalised layer with a residual connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.linear = torch.nn.Linear(width, width)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + torch.nn.functional.gelu(self.linear(self.norm(inputs)))


model: torch.nn.Module = torch.nn.Sequential(
    Block(args.width), Block(args.width), torch.nn.Linear(args.width, 1)
).cuda()
if args.compile:
    model = torch.compile(model, mode=None if args.compile == "default" else args.compile)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(args.steps):
    batch = torch.randn(512, args.width, device="cuda")
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
result("loss", f"{loss.item():.5f}")
del batch, loss
figures("end")
if args.release:
    release()

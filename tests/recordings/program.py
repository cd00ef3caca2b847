"""Trains a small model for a few steps: `program.py [--compile]`, alone or under torchrun."""

import os
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Block(torch.nn.Module):
    """A normalised layer with a residual connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.linear = torch.nn.Linear(width, width)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + torch.nn.functional.gelu(self.linear(self.norm(inputs)))


def compiled() -> None:
    """Call a compiled model with batches of two sizes."""
    model = torch.compile(torch.nn.Linear(8, 8))
    with torch.no_grad():
        for size in (4, 4, 2, 2, 2):
            model(torch.ones(size, 8))


def trained(ranks: int) -> None:
    """Train a model for three steps, on several ranks if there are any."""
    model: torch.nn.Module = torch.nn.Sequential(Block(64), torch.nn.Linear(64, 1))
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for (batch,) in DataLoader(TensorDataset(torch.randn(96, 64)), batch_size=32):
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if ranks > 1:
        torch.distributed.destroy_process_group()


if "--compile" in sys.argv:
    compiled()
else:
    trained(int(os.environ.get("WORLD_SIZE", "1")))

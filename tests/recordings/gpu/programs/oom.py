"""Runs out of memory in a module: `oom.py [--caught] [--huge] [--code N]`."""

import argparse
import sys

import torch
from figures import figures, result

parser = argparse.ArgumentParser()
parser.add_argument("--caught", action="store_true")
parser.add_argument("--huge", action="store_true")
parser.add_argument("--code", type=int)
args = parser.parse_args()
if not args.huge:
    torch.cuda.set_per_process_memory_fraction((1 << 30) / torch.cuda.mem_get_info()[1])


class Hungry(torch.nn.Module):
    """A module whose calls keep 40 products until they return."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1024, 1024))

    def forward(self, batch: int) -> torch.Tensor:
        kept = [torch.randn(batch, 1024, 1024, device="cuda") @ self.weight for _ in range(40)]
        return torch.stack(kept).sum()


model = Hungry().cuda()
with torch.no_grad():
    model(1)
    model(1)
    try:
        if args.huge:
            torch.empty(1 << 42, device="cuda")
        model(16)
    except torch.OutOfMemoryError as error:
        figures("oom", message=str(error).splitlines()[0])
        if args.code:
            sys.exit(args.code)
        if not args.caught:
            raise
    result("sum", f"{model(1).item():.1f}" != "")
figures("end")

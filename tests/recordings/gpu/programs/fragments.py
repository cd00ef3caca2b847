"""Leaves gaps in the memory, then empties the cache: for expandable segments and others."""

import torch
from figures import figures, release

SIZES = [3 << 10, 100 << 10, 700 << 10, 3 << 20, 11 << 20, 25 << 20, 47 << 20]


class Gaps(torch.nn.Module):
    """Allocates tensors of many sizes, and frees two of three."""

    def forward(self, scale: int) -> list[torch.Tensor]:
        held = [
            torch.empty(size * scale, dtype=torch.uint8, device="cuda").fill_(1)
            for _ in range(9)
            for size in SIZES
        ]
        return held[::3]


gaps = Gaps()
kept = gaps(1)
other = gaps(2)
figures("gaps")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    elsewhere = [torch.empty(5 << 20, dtype=torch.uint8, device="cuda") for _ in range(12)][::5]
waiting = torch.empty(33 << 20, dtype=torch.uint8, device="cuda")
waiting.record_stream(side)
with torch.cuda.stream(side):
    torch.cuda._sleep(200_000_000)
del waiting, other[::2]
figures("pending")
release()
del kept[1::2]
release()

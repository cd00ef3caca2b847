"""Two CUDA graphs: one with two streams, copies and fills, one of a training step. Two sessions."""

import torch
from figures import figures, result
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
KINDS = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
model = torch.nn.Sequential(
    torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8)
).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)
inputs, target = torch.randn(64, 128, device="cuda"), torch.randn(64, 8, device="cuda")
small = torch.randn(1 << 16, device="cuda")
spare, host = torch.empty_like(small), torch.empty(1 << 16, pin_memory=True)
forked = torch.cuda.Stream()


def branches() -> torch.Tensor:
    """Run two branches on two streams, a fill, and copies on the device and to the host."""
    here = torch.cuda.current_stream()
    forked.wait_stream(here)
    with record_function("left"):
        left = small.sin().cos()
        spare.zero_()
    with torch.cuda.stream(forked), record_function("right"):
        right = small.exp().log()
    here.wait_stream(forked)
    spare.copy_(left + right)
    host.copy_(spare, non_blocking=True)
    return spare


def training() -> torch.Tensor:
    """Run a training step."""
    optimizer.zero_grad(set_to_none=False)
    with record_function("forward"):
        loss = torch.nn.functional.mse_loss(model(inputs), target)
    with record_function("backward"):
        loss.backward()
    optimizer.step()
    return loss


def captured(work) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
    """Warm up on a side stream, then capture."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = work()
    return graph, made


with profile(activities=KINDS, record_shapes=True):
    first, one = captured(branches)
    second, two = captured(training)
    torch.cuda.synchronize()
with profile(activities=KINDS, record_shapes=True):
    for _ in range(4):
        first.replay()
        second.replay()
        one.mul(2)
    torch.cuda.synchronize()
result("sum", f"{one.double().sum().item():.2f} {two.item():.5f}")
figures("end")

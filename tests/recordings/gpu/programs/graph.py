"""Captures a small model as a CUDA graph and replays it: `graph.py [--sessions]`.

With `--sessions`, two sessions of torch's profiler cover the warm-up and the capture, and then only
the replays.
"""

import sys
from contextlib import nullcontext

import torch
from figures import figures, result
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(0)
SESSIONS = "--sessions" in sys.argv


def session():
    """Return a session of torch's profiler, or nothing."""
    kinds = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    return profile(activities=kinds, record_shapes=True) if SESSIONS else nullcontext()


model = torch.nn.Sequential(
    torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.LayerNorm(512), torch.nn.Linear(512, 256)
).cuda()
inputs = torch.zeros(64, 256, device="cuda")
graph = torch.cuda.CUDAGraph()
with session(), torch.no_grad():
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(inputs)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        outputs = model(inputs)
        outputs.add_(1)
    torch.cuda.synchronize()
with session():
    for number in range(5):
        inputs.copy_(torch.full((64, 256), float(number), device="cuda"))
        graph.replay()
    torch.cuda.synchronize()
result("sum", f"{outputs.double().sum().item():.3f}")
figures("end")
torch.cuda.empty_cache()
figures("after empty_cache")

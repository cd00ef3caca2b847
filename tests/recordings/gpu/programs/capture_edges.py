"""Captures CUDA graphs where a recording may begin or end: `capture_edges.py KIND`.

begins    the first call of a module is inside a capture
ends      nine calls, then the tenth inside a capture
many      captures graphs of many batch sizes, each after one warm-up call, as vLLM does
long      one graph of 40 calls
callables `make_graphed_callables` in a training loop
"""

import sys

import torch
from figures import figures, result

torch.manual_seed(0)
kind = sys.argv[1]
model = torch.nn.Sequential(
    torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64)
).cuda()
inputs = torch.ones(32, 64, device="cuda")


def warmed_up(calls: int, work) -> None:
    """Call on a side stream."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(calls):
            work()
    torch.cuda.current_stream().wait_stream(side)


def functional() -> torch.Tensor:
    """Compute what the model computes, without a call of a module."""
    hidden = torch.relu(torch.addmm(model[0].bias, inputs, model[0].weight.T))
    return torch.addmm(model[2].bias, hidden, model[2].weight.T)


graphs = []
with torch.no_grad():
    if kind == "begins":
        warmed_up(3, functional)
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            made = model(inputs)
    if kind == "ends":
        warmed_up(9, lambda: model(inputs))
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            made = model(inputs)
    if kind == "many":
        for batch in range(1, 25):
            part = inputs[:batch]
            warmed_up(1, lambda part=part: model(part))
            graphs.append(torch.cuda.CUDAGraph())
            with torch.cuda.graph(graphs[-1]):
                made = model(part)
    if kind == "long":
        warmed_up(2, lambda: model(inputs))
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            made = inputs
            for _ in range(40):
                made = model(made)
    for _ in range(3):
        for graph in graphs:
            graph.replay()
if kind == "callables":
    sample = torch.randn(32, 64, device="cuda", requires_grad=True)
    model = torch.cuda.make_graphed_callables(model, (sample,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(6):
        made = model(torch.ones(32, 64, device="cuda", requires_grad=True))
        made.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
torch.cuda.synchronize()
result("sum", f"{made.double().sum().item():.3f}")
figures("end", graphs=len(graphs))

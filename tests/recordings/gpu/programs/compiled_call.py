"""Compiles the bound `__call__` of a module, as transformers' generate with a static cache does."""

import sys

import torch


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, inputs):
        return torch.relu(self.linear(inputs))


model = Layer()
inputs = torch.ones(2, 8)
with torch.no_grad():
    model(inputs)
    compiled = torch.compile(model.__call__, backend="eager", fullgraph="--fullgraph" in sys.argv)
    for _ in range(3):
        made = compiled(inputs)
counters = torch._dynamo.utils.counters
print("RESULT", dict(counters["stats"]), [k[:50] for k in counters["graph_break"]], flush=True)

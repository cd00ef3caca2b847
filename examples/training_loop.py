"""Profiles a training loop in two cycles: skip one step, warm up for one, record two."""

import torch

import capture

model = torch.nn.Linear(32, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train(profiler: capture.Profiler, steps: int) -> None:
    for _ in range(steps):
        loss = model(torch.randn(16, 32)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        profiler.step()


with capture.Profiler(name="training", wait=1, warmup=1, active=2, repeat=2) as profiler:
    train(profiler, steps=8)

print(profiler.key_averages().table(sort_by="cpu_time_total", row_limit=5))
print(profiler.output_dir)

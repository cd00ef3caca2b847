"""A program that tests record."""

MODEL = """
import sys, torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loaded = torch.zeros(3).cumsum(0)  # before the first call of a module
for _ in range(3):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print(*sys.argv[1:])
"""

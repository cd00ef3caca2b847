"""Fixtures for tests of the profiler."""

import pytest


@pytest.fixture
def work():
    """A forward pass of a small model."""
    import torch

    model = torch.nn.Linear(4, 4)
    return lambda: model(torch.ones(2, 4))

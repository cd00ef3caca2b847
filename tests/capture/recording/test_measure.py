"""Measurements of a sweep process, with a stand-in for CUDA's allocator."""

import json
from types import SimpleNamespace

import pytest

from capture.recording.measure import Subject, measure

pytestmark = pytest.mark.usefixtures("capture_extra")
COMMON_POOL, GRAPHS_POOL = (0, 0), (0, 1)


def segment(device: int, pool: tuple[int, int], total: int, allocated: int) -> dict:
    return {
        "device": device,
        "segment_pool_id": pool,
        "total_size": total,
        "allocated_size": allocated,
    }


def test_the_peak_of_a_device_includes_the_pools_of_cuda_graphs(monkeypatch, tmp_path):
    """Replayed graphs allocate nothing. Tensors in their pools are already counted."""
    import torch

    peaks = SimpleNamespace(allocated={0: 100, 1: 130}, reserved={0: 500, 1: 500})
    segments = [
        *(segment(0, COMMON_POOL, 400, 100), segment(0, GRAPHS_POOL, 60, 20)),
        *(segment(0, GRAPHS_POOL, 30, 0), segment(1, COMMON_POOL, 500, 130)),
    ]
    for name, value in {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 2,
        "reset_peak_memory_stats": lambda device: None,
        "max_memory_allocated": peaks.allocated.get,
        "max_memory_reserved": peaks.reserved.get,
        "memory_snapshot": lambda: segments,
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)

    def call():
        return torch.ones(1)

    measure(Subject(torch.device("cpu"), call, call, call), tmp_path / "1.json", 0, 1)
    found = json.loads((tmp_path / "1.json").read_text())
    assert found["peak_of"] == "device"
    assert found["peak_bytes"] == 170  # device 0: 100 by tensors, 40 and 30 by its graphs

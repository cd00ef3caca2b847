"""Measures a computation in one process of a sweep, and saves its output for comparison."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.device import timed
from capture.output.run_directory import atomic_write, write_json
from capture.recording import compilation
from capture.recording.memory import MemoryTracker
from capture.recording.outputs import as_array

if TYPE_CHECKING:
    import torch


COMMON_POOL = (0, 0)  # id of the pool that no CUDA graph owns


@dataclass(frozen=True)
class Subject:
    """A computation to measure.

    device  the device that it runs on
    warm    a warm-up call
    call    a timed call, with the same seed each time
    output  the same call with output for comparison: images as arrays
    images  number of images or videos per call
    warms_with_same_inputs
            whether warm-up calls have the same inputs as timed calls; only then does their extra
            time measure the compilation
    """

    device: torch.device
    warm: Callable[[], Any]
    call: Callable[[], Any]
    output: Callable[[], Any]
    images: int = 1
    warms_with_same_inputs: bool = True


def measure(subject: Subject, file: Path, warmup: int, calls: int) -> None:
    """Write times, peak memory and compilations to `file`.

    The output is saved to the same path with the suffix `.npy`, unless it contains no numbers. The
    device is idle before and after each timed call, and is not synchronized inside it.
    """
    import numpy as np

    compilation.remember_all()
    warmup_ns: list[int] = []
    calls_ns: list[int] = []
    for _ in range(warmup):
        with timed(subject.device, warmup_ns):
            subject.warm()
    began_ns = time.time_ns()
    with MemoryTracker() as memory:
        for _ in range(calls):
            with timed(subject.device, calls_ns):
                subject.call()
    ended_ns = time.time_ns()
    made = as_array(subject.output())
    if made is not None:
        with (
            atomic_write(file.with_suffix(".npy")) as temporary,
            temporary.open("wb") as opened,
        ):
            np.save(opened, made)
    peak_of, peak_bytes = _peak(memory)
    content = {
        "images": subject.images,
        "warmup_times_ns": warmup_ns if subject.warms_with_same_inputs else None,
        "call_times_ns": calls_ns,
        "peak_of": peak_of,
        "peak_bytes": peak_bytes,
        "compilation": compilation.summary([(began_ns, ended_ns)]),
    }
    write_json(file, content)


def _peak(memory: MemoryTracker) -> tuple[str, int | None]:
    """Return the peak memory of tensors and CUDA graphs on a device, or of the host process.

    The first value is `device` or `host`.
    """
    *devices, host = memory.peaks
    if devices:
        graphs = _bytes_of_graphs()
        return "device", max(
            peak["peak_allocated_bytes"] + graphs[peak["device"]] for peak in devices
        )
    return "host", host.get("peak_rss_bytes")


def _bytes_of_graphs() -> Counter[str]:
    """Return the bytes in the pools of CUDA graphs that no tensor occupies, by device.

    A replayed graph uses this memory, but the allocator's peak does not include it.
    """
    import torch

    found: Counter[str] = Counter()
    cuda: Any = torch.cuda
    for segment in cuda.memory_snapshot():
        if tuple(segment["segment_pool_id"]) != COMMON_POOL:
            unheld = segment["total_size"] - segment["allocated_size"]
            found[f"cuda:{segment['device']}"] += unheld
    return found

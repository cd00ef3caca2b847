"""Measures a subject in one process of a sweep, and saves its output for comparison."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.device import timed
from capture.output.run_directory import appearing, write_json
from capture.recording import compilation
from capture.recording.memory import MemoryTracker
from capture.recording.outputs import as_array

if TYPE_CHECKING:
    import torch


COMMON_POOL = (0, 0)  # of memory that is no graph's


@dataclass(frozen=True)
class Subject:
    """A computation to measure.

    device  where it computes
    warm    a call to warm up
    call    a call to time, from the same seed each time
    output  the same call, as it is compared: an image as numbers
    images  how many images or videos a call makes
    is_warmed_alike
            whether warm-up calls have the inputs of the timed ones; only then is their extra time
            that of compiling
    """

    device: torch.device
    warm: Callable[[], Any]
    call: Callable[[], Any]
    output: Callable[[], Any]
    images: int = 1
    is_warmed_alike: bool = True


def measure(subject: Subject, file: Path, warmup: int, calls: int) -> None:
    """Writes `file` with the times, the peak of memory, and the compilations.

    The output goes to a file of that name with `.npy`, if there is one to compare. Each call is
    timed from an idle device to an idle one, and nothing waits within it.
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
            appearing(file.with_suffix(".npy")) as temporary,
            temporary.open("wb") as opened,
        ):
            np.save(opened, made)
    peak_of, peak_bytes = _peak(memory)
    content = {
        "images": subject.images,
        "warmup_times_ns": warmup_ns if subject.is_warmed_alike else None,
        "call_times_ns": calls_ns,
        "peak_of": peak_of,
        "peak_bytes": peak_bytes,
        "compilation": compilation.summary([(began_ns, ended_ns)]),
    }
    write_json(file, content)


def _peak(memory: MemoryTracker) -> tuple[str, int | None]:
    """The most that tensors and CUDA graphs held on a device; without one, what the process did."""
    *devices, host = memory.peaks
    if devices:
        graphs = _bytes_of_graphs()
        return "device", max(
            peak["peak_allocated_bytes"] + graphs[peak["device"]] for peak in devices
        )
    return "host", host.get("peak_rss_bytes")


def _bytes_of_graphs() -> Counter[str]:
    """Bytes that the pools of CUDA graphs hold outside of tensors, by device.

    A graph that is replayed works there, and the allocator, which counts peaks, does not see it.
    """
    import torch

    found: Counter[str] = Counter()
    cuda: Any = torch.cuda
    for segment in cuda.memory_snapshot():
        if tuple(segment["segment_pool_id"]) != COMMON_POOL:
            unheld = segment["total_size"] - segment["allocated_size"]
            found[f"cuda:{segment['device']}"] += unheld
    return found

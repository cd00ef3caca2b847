"""Functions that choose, name and time the device that torch computes on."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.errors import capture_extra

if TYPE_CHECKING:
    import torch


def default_device() -> torch.device:
    """Return the accelerator that torch finds (CUDA, ROCm, XPU, ...), else the CPU.

    Raises CaptureError if torch is not installed.
    """
    with capture_extra():
        import torch
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


def device_name(device: torch.device) -> str:
    """Return the model of `device`, e.g. `NVIDIA H200`, or its type if torch has no name for it."""
    import torch

    if device.type == "cpu":
        return _cpu_model()
    module = torch.get_device_module(device)
    if hasattr(module, "get_device_name"):
        return str(module.get_device_name(device))
    return device.type


def identity(device: torch.device) -> dict[str, Any]:
    """Return what distinguishes devices of different models, with None for what does not apply.

    device_type      `cpu`, `cuda`, ...
    device           index of the device; None for a CPU
    name             see `device_name`
    multiprocessors  number of multiprocessors of a CUDA or ROCm device
    memory_bytes     memory of a CUDA or ROCm device, bytes
    threads          number of threads that torch computes with on a CPU
    """
    import torch

    found: dict[str, Any] = {
        "device_type": device.type,
        "device": None if device.type == "cpu" else device.index,
        "name": device_name(device),
        "multiprocessors": None,
        "memory_bytes": None,
        "threads": torch.get_num_threads() if device.type == "cpu" else None,
    }
    if device.type == "cuda":
        index = torch.cuda.current_device() if device.index is None else device.index
        properties = torch.cuda.get_device_properties(index)
        found["device"] = index
        found["multiprocessors"] = properties.multi_processor_count
        found["memory_bytes"] = properties.total_memory
    return found


def driver(device: torch.device) -> str | None:
    """Return the driver of `device`, e.g. `CUDA 12.8, driver for 13.0`, or None."""
    import torch

    if device.type == "cpu":
        return None
    if torch.version.hip:
        return f"ROCm {torch.version.hip}"
    if device.type == "cuda":
        known = getattr(torch._C, "_cuda_getDriverVersion", None)
        loaded = f", driver for {known() // 1000}.{known() % 1000 // 10}" if known else ""
        return f"CUDA {torch.version.cuda}{loaded}"
    return None


@contextmanager
def timed(device: torch.device, times_ns: list[int]) -> Iterator[None]:
    """Append the time of the body to `times_ns`. Wait for the device before and after the body."""
    synchronize(device)
    start_ns = time.perf_counter_ns()
    yield
    synchronize(device)
    times_ns.append(time.perf_counter_ns() - start_ns)


class Stopwatch:
    """Measures work on `device` with events on its stream, without waiting for the device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._marks: list[tuple[Any, Any]] = []

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Time the body."""
        began = self._mark()
        yield
        self._marks.append((began, self._mark()))

    def times_ns(self) -> list[int]:
        """Wait for the device, and return the time of each body so far in ns."""
        synchronize(self._device)
        if self._device.type == "cpu":
            return [ended - began for began, ended in self._marks]
        return [round(began.elapsed_time(ended) * 1e6) for began, ended in self._marks]

    def _mark(self) -> Any:
        """Return the time in ns on a CPU, or record an event on the accelerator's stream."""
        if self._device.type == "cpu":
            return time.perf_counter_ns()
        import torch

        event = torch.Event(self._device, enable_timing=True)
        event.record()
        return event


def synchronize(device: torch.device) -> None:
    """Wait until `device` has completed all work."""
    import torch

    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def is_capturing() -> bool:
    """Return whether this thread captures a CUDA graph. Waiting for the device would break it."""
    cuda = sys.modules.get("torch.cuda")
    return bool(cuda and cuda.is_initialized() and cuda.is_current_stream_capturing())


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()

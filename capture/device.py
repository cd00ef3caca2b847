"""The device that torch computes on: which one, what it is called, how to time it."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from capture.errors import capture_extra

if TYPE_CHECKING:
    import torch


def default_device() -> torch.device:
    """The accelerator that torch finds (CUDA, ROCm, XPU, ...), else the CPU."""
    with capture_extra():
        import torch
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


def device_name(device: torch.device) -> str:
    """The model of `device`, e.g. `NVIDIA H200`; its type where the driver does not tell."""
    import torch

    if device.type == "cpu":
        return _cpu_model()
    module = torch.get_device_module(device)
    if hasattr(module, "get_device_name"):
        return str(module.get_device_name(device))
    return device.type


def driver(device: torch.device) -> str | None:
    """What drives `device`, e.g. `CUDA 12.8, driver for 13.0`; None where torch does not say."""
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
    """Append the time of the body to `times_ns`, in ns, from an idle device to an idle device."""
    synchronize(device)
    start_ns = time.perf_counter_ns()
    yield
    synchronize(device)
    times_ns.append(time.perf_counter_ns() - start_ns)


def synchronize(device: torch.device) -> None:
    """Wait until `device` has done all it was asked for."""
    import torch

    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine()

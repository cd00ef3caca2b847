"""Peak memory of a block of code, and snapshots of the CUDA allocator's history."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from capture.errors import capture_extra
from capture.output.run_directory import atomic_write
from capture.units import size

NO_DEVICE = "torch finds no CUDA or ROCm device; only their allocators keep a history"
NO_HOST_PEAK = "this system does not let a process reset its peak memory"
STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")


class MemoryTracker:
    """A context manager that measures peak memory, per device and of the host process.

    After the body, `peaks` has one entry per device that was used, with `device`,
    `peak_allocated_bytes` and `peak_reserved_bytes`. Another entry is for the host: `device` is
    `host`, with `peak_rss_bytes` or, if that is unknown, the reason under `missing`. Works without
    a device and without torch.
    """

    def __init__(self) -> None:
        self.peaks: list[dict[str, Any]] = []

    def __enter__(self) -> MemoryTracker:
        cuda = _cuda()
        for device in range(cuda.device_count() if cuda and cuda.is_initialized() else 0):
            cuda.reset_peak_memory_stats(device)
        self._host_known = _reset_host_peak()
        return self

    def __exit__(self, *_: object) -> None:
        cuda = _cuda()
        self.peaks = [
            {
                "device": f"cuda:{device}",
                "peak_allocated_bytes": cuda.max_memory_allocated(device),
                "peak_reserved_bytes": cuda.max_memory_reserved(device),
            }
            for device in range(cuda.device_count() if cuda and cuda.is_initialized() else 0)
            if cuda.max_memory_reserved(device)  # unused devices belong to other ranks
        ]
        known = {"peak_rss_bytes": _host_peak()} if self._host_known else {"missing": NO_HOST_PEAK}
        self.peaks.append({"device": "host", **known})

    def report(self) -> str:
        """Print the peaks, one line each, and return the printed text."""
        text = "\n".join(f"{peak['device']}: {_peak_text(peak)}" for peak in self.peaks)
        print(text)
        return text


class MemoryHistory:
    """The CUDA allocator's history of up to `max_entries` actions, from construction to `stop`.

    If memory runs out, the snapshot of that moment is written to `path`, and `ran_out` is true.
    """

    def __init__(self, max_entries: int, path: Path) -> None:
        with capture_extra():
            import torch
        self.path = path
        self.ran_out = False
        self._is_over = False
        self._memory = torch.cuda.memory
        self._memory._record_memory_history(max_entries=max_entries)
        # Torch cannot remove an observer, so `_runs_out` checks `_is_over`.
        attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)
        if attach:
            attach(self._runs_out)

    @staticmethod
    def available() -> bool:
        """Return whether there is an allocator that keeps a history."""
        with capture_extra():
            import torch
        return torch.cuda.is_available()

    def dump(self) -> None:
        """Write the snapshot. Raises CaptureError if it cannot be written."""
        with atomic_write(self.path) as temporary:
            self._memory._dump_snapshot(str(temporary))  # type: ignore[no-untyped-call]

    def stop(self) -> None:
        """End the recording."""
        self._is_over = True
        self._memory._record_memory_history(enabled=None)

    def _runs_out(self, *_: object) -> None:
        """Write a snapshot before the allocator raises the error, which the program may catch."""
        if not self._is_over:
            with suppress(Exception):
                self.dump()
                self.ran_out = True


def rss_bytes() -> int | None:
    """Return the resident memory of this process in bytes, or None if it is unknown."""
    return _status("VmRSS")


def anonymous_bytes() -> int | None:
    """Return the resident memory except mapped files, such as libraries, in bytes.

    If the system does not report it, return `rss_bytes()`.
    """
    anonymous = _status("RssAnon")
    return rss_bytes() if anonymous is None else anonymous


def _cuda() -> Any:
    """Return torch.cuda if torch has been imported and finds a device, else None."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch and torch.cuda.is_available() else None


def _reset_host_peak() -> bool:
    try:
        RESET_PEAK.write_text("5")
    except OSError:
        return False
    return _host_peak() is not None


def _host_peak() -> int | None:
    return _status("VmHWM")


def _status(key: str) -> int | None:
    if not STATUS.exists():
        return None
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return None


def _peak_text(peak: dict[str, Any]) -> str:
    sizes = [
        f"{key.removesuffix('_bytes').replace('_', ' ')} {size(count)}"
        for key, count in peak.items()
        if key.endswith("_bytes")
    ]
    return ", ".join(sizes) or str(peak["missing"])

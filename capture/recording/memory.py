"""Memory of a block of code: its peaks, and the CUDA allocator's history as a snapshot."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from capture.errors import capture_extra
from capture.output.run_directory import appearing
from capture.units import size

NO_DEVICE = "torch finds no CUDA or ROCm device, and only their allocators keep a history"
NO_HOST_PEAK = "the system does not let a process restart the count of its peak"
STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")


class MemoryTracker:
    """Peak memory of the body, per device and of the host process.

    After it, `peaks` has one entry per device that was used (`device`, `peak_allocated_bytes`,
    `peak_reserved_bytes`) and one for the host (`device` is `host`, `peak_rss_bytes`; where that
    cannot be known, `missing` says why instead). Works without a device, and without torch.
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
            if cuda.max_memory_reserved(device)  # the others are other ranks'
        ]
        known = {"peak_rss_bytes": _host_peak()} if self._host_known else {"missing": NO_HOST_PEAK}
        self.peaks.append({"device": "host", **known})

    def report(self) -> str:
        """Prints the peaks, a line each, and returns what it printed."""
        text = "\n".join(f"{peak['device']}: {_said(peak)}" for peak in self.peaks)
        print(text)
        return text


class MemoryHistory:
    """The CUDA allocator's history, from now to `stop`, of at most `max_entries` actions.

    Where memory runs out, the snapshot of that moment goes to `path`; `ran_out` says so.
    """

    def __init__(self, max_entries: int, path: Path) -> None:
        with capture_extra():
            import torch
        self.path = path
        self.ran_out = False
        self._is_over = False
        self._memory = torch.cuda.memory
        self._memory._record_memory_history(max_entries=max_entries)
        # Torch lacks a way to take it away again.
        attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)
        if attach:
            attach(self._runs_out)

    @staticmethod
    def available() -> bool:
        """Whether there is an allocator that keeps a history."""
        with capture_extra():
            import torch
        return torch.cuda.is_available()

    def dump(self) -> None:
        """Writes the snapshot. Raises CaptureError if it cannot be written."""
        with appearing(self.path) as temporary:
            self._memory._dump_snapshot(str(temporary))  # type: ignore[no-untyped-call]

    def stop(self) -> None:
        """Ends the recording."""
        self._is_over = True
        self._memory._record_memory_history(enabled=None)

    def _runs_out(self, *_: object) -> None:
        """Before the allocator raises the error; the program may catch it, and go on."""
        if not self._is_over:
            with suppress(Exception):
                self.dump()
                self.ran_out = True


def rss_bytes() -> int | None:
    """Memory that this process holds now; None where the system does not say."""
    return _status("VmRSS")


def _cuda() -> Any:
    """torch.cuda where torch is loaded and has a device."""
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


def _said(peak: dict[str, Any]) -> str:
    sizes = [
        f"{key.removesuffix('_bytes').replace('_', ' ')} {size(count)}"
        for key, count in peak.items()
        if key.endswith("_bytes")
    ]
    return ", ".join(sizes) or str(peak["missing"])

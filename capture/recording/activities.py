"""The activities that can be recorded: CPU, GPU and the allocator's history (MEM)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from capture.device import default_device
from capture.errors import CaptureError

if TYPE_CHECKING:
    from torch.profiler import ProfilerActivity

ACTIVITIES = ("CPU", "GPU", "MEM")
TORCH_GPU = ("CUDA", "XPU", "MTIA", "PRIVATEUSE1")


def named(activities: Iterable[str]) -> list[str]:
    """Return the names of activities, which can be members of torch's `ProfilerActivity`.

    Raises CaptureError for an unknown activity, or if there is none.
    """
    given = [activities] if isinstance(activities, str) else list(activities)
    names = [str(activity).rpartition(".")[2].upper() for activity in given]
    ours = ["GPU" if name in TORCH_GPU else name for name in names]
    for name in ours:
        if name not in ACTIVITIES:
            raise CaptureError(f"{name}: unknown activity; choose from {', '.join(ACTIVITIES)}")
    if not ours:
        raise CaptureError(f"no activity to record; choose from {', '.join(ACTIVITIES)}")
    return ours


def accelerators() -> set[ProfilerActivity]:
    """Return the accelerators that torch's profiler can record, or an empty list."""
    from torch.profiler import ProfilerActivity, supported_activities

    if default_device().type == "cpu":
        return set()
    return set(supported_activities()) - {ProfilerActivity.CPU}  # type: ignore[no-untyped-call]

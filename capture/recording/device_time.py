"""The busy time of each device within the recorded time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

WORK = ("kernel", "gpu_memcpy", "gpu_memset")  # Kineto's types of activities that occupy a device
# Kineto's names of the waits that the experimental option enable_cuda_sync_events records.
WAITS = ("Context Sync", "Event Sync", "Stream Sync", "Stream Wait Event")

Interval = tuple[int, int]


class DeviceTime:
    """The busy time of devices, summed over the traces of a run.

    `busy_ns` is the time during which a device runs kernels, copies or fills, by the name of the
    device. `recorded_ns` is the time of the recorded steps, or of the recording without steps.
    """

    def __init__(self) -> None:
        self.busy_ns: dict[str, int] = {}
        self.recorded_ns = 0

    def add(self, profile: Any, steps_ns: Sequence[Interval]) -> None:
        """Add a trace, from torch's profile.

        `steps_ns` has the Unix times at which its steps begin and end.
        """
        events = profile.profiler.kineto_results.events()
        work: dict[str, list[Interval]] = defaultdict(list)
        for event in events:
            if _is_work(event):
                device = f"{event.device_type().name.lower()}:{event.device_index()}"
                work[device].append((event.start_ns(), event.end_ns()))
        if not work:
            return
        whole = [(min(e.start_ns() for e in events), max(e.end_ns() for e in events))]
        within = sorted(steps_ns) or whole
        self.recorded_ns += sum(end - start for start, end in within)
        for device, intervals in work.items():
            busy = self.busy_ns.get(device, 0)
            self.busy_ns[device] = busy + _covered_ns(intervals, within)

    def summary(self) -> list[dict[str, Any]]:
        """Return an entry per device: `device`, `busy_ns`, `recorded_ns`."""
        return [
            {"device": device, "busy_ns": busy, "recorded_ns": self.recorded_ns}
            for device, busy in sorted(self.busy_ns.items())
        ]


def _is_work(event: Any) -> bool:
    if hasattr(event, "activity_type"):
        return event.activity_type() in WORK
    # Torch before 2.13 does not say the type. Its device events are work, waits and annotations.
    is_on_device = event.device_type().name != "CPU" and not event.is_user_annotation()
    return is_on_device and event.name() not in WAITS


def _covered_ns(intervals: Iterable[Interval], within: Sequence[Interval]) -> int:
    """Return the part of `within` that intervals cover. `within` is sorted and disjoint."""
    merged: list[list[int]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    covered, at = 0, 0
    for low, high in within:
        while at < len(merged) and merged[at][1] <= low:
            at += 1
        inside = at
        while inside < len(merged) and merged[inside][0] < high:
            start, end = merged[inside]
            covered += min(end, high) - max(start, low)
            inside += 1
    return covered

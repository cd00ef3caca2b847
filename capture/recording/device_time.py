"""How long each device worked, of the time that was recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

WORK = ("kernel", "gpu_memcpy", "gpu_memset")  # as Kineto names them; not its annotations

Interval = tuple[int, int]


class DeviceTime:
    """Sums up what the traces of a run say.

    `busy_ns` is the time with a kernel, copy or fill on a device, by its name; `recorded_ns` that
    of the steps, or of the whole recording where there are none.
    """

    def __init__(self) -> None:
        self.busy_ns: dict[str, int] = {}
        self.recorded_ns = 0

    def add(self, profile: Any, steps_ns: Sequence[Interval]) -> None:
        """Adds a trace with its steps (began, ended; Unix time), from torch's profile of it."""
        events = profile.profiler.kineto_results.events()
        if not events or not hasattr(events[0], "activity_type"):  # before torch 2.13
            return
        work: dict[str, list[Interval]] = defaultdict(list)
        for event in events:
            if event.activity_type() in WORK:
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
        """An entry for each device: `device`, `busy_ns`, `recorded_ns`."""
        return [
            {"device": device, "busy_ns": busy, "recorded_ns": self.recorded_ns}
            for device, busy in sorted(self.busy_ns.items())
        ]


def _covered_ns(intervals: Iterable[Interval], within: Sequence[Interval]) -> int:
    """The time that some interval covers, of `within`, whose parts are sorted and apart."""
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

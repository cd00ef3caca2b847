"""Stages of pipeline calls, computed in plain Python from the raw events of a trace.

Only one thread may call pipelines. All causes of idle time are combined as `idle`.
"""

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any, NamedTuple

Event = dict[str, Any]
OTHER = ("other", None, None)
Cell = tuple[str, int | None, str | None]  # stage, step, block
Cells = dict[Cell, Counter[str]]


class Span(NamedTuple):
    """A label of a trace: its kind, the name in it, and its start and end in ns."""

    kind: str
    label: str
    start: int
    end: int


class Marks:
    """The labels of a trace."""

    def __init__(self, events: list[Event]) -> None:
        spans = []
        for event in events:
            kind, _, label = event["name"].replace("ProfilerStep#", "step: ").partition(": ")
            if event.get("cat") == "user_annotation":
                spans.append(Span(kind, label, *_times(event)))
        self.spans = spans
        pipelines = sorted(
            (span for span in spans if span.kind == "pipeline"), key=lambda s: (s.start, -s.end)
        )
        self.calls: list[Span] = []
        for span in pipelines:
            if not self.calls or span.start >= self.calls[-1].end:
                self.calls.append(span)

    def call_at(self, time: int) -> int | None:
        """Return the number of the call at a time, from 1."""
        for number, call in enumerate(self.calls, 1):
            if call.start <= time < call.end:
                return number
        return None

    def cell_at(self, time: int, call: int) -> Cell:
        """Return the cell of the host in a call at a time; `other` before and after the call."""
        outer = self.calls[call - 1]
        if not outer.start <= time < outer.end:
            return OTHER
        stage = self._innermost("stage", time, outer)
        step = self._innermost("step", time, stage) if stage and stage.label == "denoise" else None
        block = self._innermost("block", time, stage or outer)
        return (
            stage.label if stage else "other",
            int(step.label) if step else None,
            block.label if block else None,
        )

    def _innermost(self, kind: str, time: int, outer: Span) -> Span | None:
        around = [
            span
            for span in self.spans
            if span.kind == kind and span.start <= time < span.end and span.start >= outer.start
        ]
        return max(around, key=lambda span: (span.start, -span.end), default=None)

    def divide(self, since: int, until: int, call: int) -> list[tuple[Cell, int]]:
        """Return the host time between two times, by cell."""
        edges = {time for span in self.spans for time in (span.start, span.end)}
        times = sorted({since, until} | {time for time in edges if since < time < until})
        return [(self.cell_at(start, call), end - start) for start, end in pairwise(times)]


def host_times(events: list[Event]) -> dict[int, Counter[Cell]]:
    """Return call → cell → ns on the calling thread."""
    marks = Marks(events)
    found: dict[int, Counter[Cell]] = {}
    for number, call in enumerate(marks.calls, 1):
        found[number] = Counter()
        for cell, time in marks.divide(call.start, call.end, number):
            found[number][cell] += time
    return found


def operators(events: list[Event]) -> dict[int, Counter[Cell]]:
    """Return call → cell → number of operators. All operators must be outermost."""
    marks = Marks(events)
    found: dict[int, Counter[Cell]] = defaultdict(Counter)
    for event in events:
        if event.get("cat") == "cpu_op":
            start, _ = _times(event)
            if call := marks.call_at(start):
                found[call][marks.cell_at(start, call)] += 1
    return found


def parts(events: list[Event]) -> dict[tuple[int | None, int], Cells]:
    """Return (device, call) → cell → part → ns. The device is None in a trace without one."""
    marks = Marks(events)
    calls = range(1, len(marks.calls) + 1)
    activities = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy")]
    if not activities:
        work = [_times(event) for event in events if event.get("cat") == "cpu_op"]
        return {(None, call): _of_host(work, marks, call) for call in calls}
    launches = {
        event["args"]["correlation"]: _times(event)[0]
        for event in events
        if event.get("cat") == "cuda_runtime"
    }
    by_device: dict[int, list[tuple[int, int, int, str]]] = defaultdict(list)
    for event in activities:
        start, end = _times(event)
        launched = launches.get(event["args"].get("correlation"), start)
        part = "compute" if event["cat"] == "kernel" else "copy"
        by_device[event["args"]["device"]].append((start, end, launched, part))
    return {
        (device, call): _of_device(activities, marks, call)
        for device, activities in by_device.items()
        for call in calls
    }


def _of_device(activities: list[tuple[int, int, int, str]], marks: Marks, call: int) -> Cells:
    found: Cells = defaultdict(Counter)
    outer = marks.calls[call - 1]
    ours = [
        (start, end) for start, end, launched, _ in activities if marks.call_at(launched) == call
    ]
    first = min((start for start, _ in ours), default=outer.end)
    last = max((end for _, end in ours), default=outer.end)
    since, until = min(first, outer.start), max(last, outer.end)
    reached = since
    for start, end, launched, part in sorted(activities, key=lambda activity: activity[0]):
        cell = marks.cell_at(launched, call) if marks.call_at(launched) == call else OTHER
        if first <= reached < start <= last:
            found[cell]["idle"] += start - reached
        elif reached < min(start, until):
            for host_cell, time in marks.divide(reached, min(start, until), call):
                found[host_cell]["idle"] += time
        inside = max(0, min(end, until) - max(start, since))
        covered = max(0, min(end, until) - max(start, reached))
        found[cell][part] += inside
        found[cell]["overlap"] += covered - inside
        reached = max(reached, end)
    if reached < until:
        for host_cell, time in marks.divide(reached, until, call):
            found[host_cell]["idle"] += time
    return found


def _of_host(work: list[tuple[int, int]], marks: Marks, call: int) -> Cells:
    found: Cells = defaultdict(Counter)
    outer = marks.calls[call - 1]
    edges = {time for pair in work for time in pair} | {outer.start, outer.end}
    times = sorted(time for time in edges if outer.start <= time <= outer.end)
    for start, end in pairwise(times):
        running = sum(1 for begin, stop in work if begin <= start < stop)
        for cell, time in marks.divide(start, end, call):
            if running:
                found[cell]["compute"] += running * time
                found[cell]["overlap"] += (1 - running) * time
            else:
                found[cell]["idle"] += time
    return found


def _times(event: Event) -> tuple[int, int]:
    start = round(event["ts"] * 1000)
    return start, start + round(event["dur"] * 1000)

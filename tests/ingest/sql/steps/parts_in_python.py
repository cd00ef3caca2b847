"""The parts of each step from the raw events of a trace, in plain Python without tracehouse.

Causes of idle time are not distinguished: their time is `idle`.
"""

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from tests.ingest.sql.runs.metrics_in_python import (
    COPY,
    HOST,
    KERNEL,
    LAUNCH,
    OP,
    Event,
    Interval,
    calls_of,
    class_of,
    is_called,
    length,
    merged,
    near,
    outermost,
    window_of,
)

Parts = dict[int | None, Counter[str]]


class Steps:
    """The steps of a trace: calls of the annotation or module `name`, or None for the recording."""

    def __init__(self, events: list[Event], name: str | None) -> None:
        self.is_whole = name is None
        kinds = {"user_annotation", "python_function"} | OP
        calls = sorted(
            (e["start"], e["end"], e["name"])
            for e in events
            if e["cat"] in kinds and is_called(name, e["name"])
        )
        self.numbered = {
            int(text.rpartition("#")[2]) if name == "ProfilerStep" else index: (start, end)
            for index, (start, end, text) in enumerate(calls)
        }
        inside = [e for e in events if e["cat"] in HOST | KERNEL | COPY]
        recording = (min(e["start"] for e in inside), max(e["end"] for e in inside))
        self.windows = [recording] if self.is_whole else list(self.numbered.values())

    def at(self, time: int) -> int | None:
        """Return the innermost step at this time."""
        around = [(s, -e, n) for n, (s, e) in self.numbered.items() if s <= time < e]
        return max(around)[2] if around else None

    def divide(self, since: int, until: int) -> list[tuple[int | None, int]]:
        """Divide the host's time between `since` and `until` by step."""
        edges = {time for window in self.numbered.values() for time in window}
        times = sorted({since, until} | {time for time in edges if since < time < until})
        return [(self.at(s), e - s) for s, e in pairwise(times)]


def parts(events: list[Event], step_name: str | None) -> dict[int | None, Parts]:
    """Return the parts of each step by device. The key None is a host without a device."""
    steps = Steps(events, step_name)
    device = [e for e in events if e["cat"] in KERNEL | COPY]
    if not device:
        return {None: _host(events, steps)}
    calls = calls_of(events)
    groups: dict[int, list[Event]] = defaultdict(list)
    for event in device:
        arguments = event.get("args") or {}
        event["launched_ns"] = calls.get(arguments.get("correlation"), event)["start"]
        groups[int(arguments.get("device", event["pid"]))].append(event)
    return {number: _device(group, steps) for number, group in groups.items()}


def _device(activities: list[Event], steps: Steps) -> Parts:
    found: Parts = defaultdict(Counter)
    ours = [e for e in activities if steps.is_whole or steps.at(e["launched_ns"]) is not None]
    window, wall = window_of([(e["start"], e["end"]) for e in ours], steps.windows)
    activities = sorted(activities, key=lambda e: e["start"])
    reached = None
    for event in activities:
        step = steps.at(event["launched_ns"])
        inside = length([(event["start"], event["end"])], window)
        covered = length([(max(event["start"], reached or event["start"]), event["end"])], window)
        found[step][class_of(event)] += inside
        found[step]["overlap"] += covered - inside
        if reached is not None and reached < event["start"]:
            _idle(found, "idle", (reached, event["start"]), window, step, steps)
        reached = max(reached or event["end"], event["end"])
    first = next((steps.at(e["launched_ns"]) for e in activities if e in ours), None)
    _idle(found, "lead", (wall[0], window[0]), wall, first, steps)
    _idle(found, "tail", (window[1], wall[1]), wall, None, steps)
    return found


def _idle(
    found: Parts, part: str, gap: Interval, window: Interval, step: int | None, steps: Steps
) -> None:
    """Count a gap in the window. The time before the start of `step` counts for the host's step."""
    since, until = gap
    if since < window[0] or until > window[1]:
        return
    own = until if step is None else min(max(since, steps.numbered[step][0]), until)
    found[step][part] += until - own
    for host_step, time in steps.divide(since, own):
        found[host_step][part] += time


def _host(events: list[Event], steps: Steps) -> Parts:
    found: Parts = defaultdict(Counter)
    layers = outermost(events)
    spans = {layer: [(e["start"], e["end"]) for e in members] for layer, members in layers.items()}
    ours = [
        (s, e)
        for members in spans.values()
        for s, e in members
        if steps.is_whole or steps.at(s) is not None
    ]
    window, wall = window_of(ours, steps.windows)
    edges = {time for pair in steps.numbered.values() for time in pair} | {*wall}
    times = sorted(time for time in edges if wall[0] <= time <= wall[1])
    work, busy = merged(spans["work"]), merged(spans["work"] + spans["compiled_code"])
    for interval in pairwise(times):
        into = found[steps.at(interval[0])]
        inner = max(interval[0], window[0]), min(interval[1], window[1])
        into["lead"] += length([(wall[0], window[0])], interval)
        into["tail"] += length([(window[1], wall[1])], interval)
        into["compute"] += length(spans["work"], inner)
        into["overlap"] += length(work, inner) - length(spans["work"], inner)
        into["compiled_code"] += length(busy, inner) - length(work, inner)
        into["idle"] += max(inner[1] - inner[0], 0) - length(busy, inner)
    return found


def counts(events: list[Event], step_name: str | None) -> dict[int | None, Parts]:
    """Return the counts of each step by device, and its exposed communication and copies.

    The key None has the operators and gaps of a host without a device.
    """
    steps = Steps(events, step_name)
    if not any(event["cat"] in KERNEL | COPY for event in events):
        return {None: _host_counts(events, steps)}
    groups: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event["cat"] in KERNEL | COPY:
            arguments = event.get("args") or {}
            groups[int(arguments.get("device", event["pid"]))].append(event)
    calls = calls_of(events)
    for group in groups.values():
        for event in group:
            event["call"] = calls.get((event.get("args") or {}).get("correlation"))
            event["launched_ns"] = (event["call"] or event)["start"]
    return {number: _counts(group, steps) for number, group in groups.items()}


def recorded(events: list[Event], device: int | None) -> set[str]:
    """Return the counts that a trace has for a device, or for a host without a device (None)."""
    found = {"bubbles", "activities"}
    if device is not None:
        found |= {"kernels", "exposed_communication_ns", "exposed_copy_ns"}
        correlations = (
            (event.get("args") or {}).get("correlation")
            for event in events
            if event["cat"] in LAUNCH
        )
        if any(correlations):
            found |= {"launches", "graph_launches", "launch_call_ns", "short_kernels"}
    return found


def _host_counts(events: list[Event], steps: Steps) -> Parts:
    layers = outermost(events)
    found: Parts = defaultdict(Counter)
    ours = [
        (e["start"], e["end"])
        for members in layers.values()
        for e in members
        if steps.is_whole or steps.at(e["start"]) is not None
    ]
    window, _ = window_of(ours, steps.windows)
    for op in layers["work"]:
        at_once = op["start"] == op["end"] and window[0] <= op["start"] <= window[1]
        lasts = length([(op["start"], op["end"])], window) > 0
        found[steps.at(op["start"])]["activities"] += at_once or lasts
    spans = [(e["start"], e["end"]) for e in layers["work"] + layers["compiled_code"]]
    busy = [(s, e) for s, e in merged(spans) if e >= window[0] and s <= window[1]]
    for start, _ in busy[1:]:
        found[steps.at(start)]["bubbles"] += 1
    return found


def _counts(activities: list[Event], steps: Steps) -> Parts:
    ours = [e for e in activities if steps.is_whole or steps.at(e["launched_ns"]) is not None]
    window, _ = window_of([(e["start"], e["end"]) for e in ours], steps.windows)
    classes: dict[str, list[Interval]] = {"compute": [], "communication": [], "copy": []}
    for event in activities:
        classes[class_of(event)].append((event["start"], event["end"]))
    hidden_by = {
        "communication": merged(classes["compute"]),
        "copy": merged(classes["compute"] + classes["communication"]),
    }
    found: Parts = defaultdict(Counter)
    reached: dict[str, int] = {}
    called: set[tuple[int | None, int]] = set()
    for event in sorted(activities, key=lambda e: e["start"]):
        step, kind = steps.at(event["launched_ns"]), class_of(event)
        counted = found[step]
        ended = reached.get("all")
        if ended is not None and ended < event["start"]:
            counted["bubbles"] += window[0] <= ended and event["start"] <= window[1]
        if kind in hidden_by:
            own = (max(event["start"], reached.get(kind, event["start"])), event["end"])
            inner = (max(own[0], window[0]), min(own[1], window[1]))
            if inner[1] > inner[0]:
                hidden = length(near(inner, hidden_by[kind]), inner)
                counted[f"exposed_{kind}_ns"] += inner[1] - inner[0] - hidden
        for name in ("all", kind):
            reached[name] = max(reached.get(name, event["end"]), event["end"])
        at_once = event["start"] == event["end"] and window[0] <= event["start"] <= window[1]
        if not at_once and not length([(event["start"], event["end"])], window):
            continue
        counted["activities"] += 1
        if event["cat"] in KERNEL:
            counted["kernels"] += 1
            _count_launch(counted, event, step, called)
    return found


def _count_launch(
    counted: Counter[str], event: Event, step: int | None, called: set[tuple[int | None, int]]
) -> None:
    call = event["call"]
    if not call:
        return
    is_graph, call_ns = "GraphLaunch" in call["name"], call["end"] - call["start"]
    if (step, id(call)) not in called:
        called.add((step, id(call)))
        counted["launches"] += 1
        counted["graph_launches"] += is_graph
        counted["launch_call_ns"] += call_ns
    counted["short_kernels"] += not is_graph and event["end"] - event["start"] < call_ns


def median_step(found: Parts, is_whole: bool) -> int | None:
    """Return the median step, or None for a whole recording.

    Of two middle steps, return the shorter.
    """
    if is_whole:
        return None
    walls = sorted(
        (sum(by_part.values()), step) for step, by_part in found.items() if step is not None
    )
    return walls[(len(walls) - 1) // 2][1]


def nonzero(found: dict[Any, Counter[str]]) -> dict[Any, dict[str, int]]:
    """Return the parts that are not 0."""
    kept = {
        step: {part: ns for part, ns in by_part.items() if ns} for step, by_part in found.items()
    }
    return {step: by_part for step, by_part in kept.items() if by_part}

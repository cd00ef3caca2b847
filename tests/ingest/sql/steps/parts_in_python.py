"""The parts of each step from the raw events of a trace, in plain Python without tracehouse.

Causes of idle time are not distinguished: their time is `idle`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
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


def windows_of(activities: list[Event], steps: Steps) -> list[tuple[int | None, Interval]]:
    """Return the windows of the steps on a device, and of the time between them, in order.

    A step ends when its range and the work that it launched have ended. It begins at the end of the
    step before, but not before its range. `activities` have `launched_ns`.
    """
    ends: dict[int | None, int] = {}
    for event in activities:
        step = steps.at(event["launched_ns"])
        ends[step] = max(ends.get(step, 0), event["end"])
    wall = _wall(activities, steps)
    if steps.is_whole:
        return [(None, wall)]
    found: list[tuple[int | None, Interval]] = []
    reached = wall[0]
    for number, (start, end) in sorted(steps.numbered.items(), key=lambda item: item[1]):
        if found and start > reached:
            found.append((None, (reached, start)))
            reached = start
        until = max(end, ends.get(number, end), reached)
        found.append((number, (reached, until)))
        reached = until
    return found


def _wall(activities: list[Event], steps: Steps) -> Interval:
    ours = [e for e in activities if steps.is_whole or steps.at(e["launched_ns"]) is not None]
    return window_of([(e["start"], e["end"]) for e in ours], steps.windows)


def _fill(windows: list[tuple[int | None, Interval]], active: set[int | None], steps: Steps) -> int:
    """Return the end of the time in which the first step fills the pipeline, or 0."""
    in_order = [(number, window) for number, window in windows if number is not None]
    in_order = [(number, window) for number, window in in_order if window[1] > window[0]]
    if len(in_order) < 2 or in_order[0][0] not in active:
        return 0
    (first, (since, until)), (following, _) = in_order[:2]
    assert first is not None
    assert following is not None
    begun = max(steps.numbered[first][1], steps.numbered[following][0])
    return since + max(until - begun, 0)


def _device(activities: list[Event], steps: Steps) -> Parts:
    found: Parts = defaultdict(Counter)
    windows = windows_of(activities, steps)
    spans: dict[str, list[Interval]] = defaultdict(list)
    for event in activities:
        spans[class_of(event)].append((event["start"], event["end"]))
    busy = merged(span for of_class in spans.values() for span in of_class)
    filled = _fill(windows, {steps.at(e["launched_ns"]) for e in activities}, steps)
    for number, window in windows:
        into = found[number]
        for name, of_class in spans.items():
            into[name] += length(of_class, window)
        busy_ns = length(near(window, busy), window)
        into["overlap"] += busy_ns - sum(length(of_class, window) for of_class in spans.values())
        fill = (window[0], min(filled, window[1]))
        if number is not None and fill[1] > fill[0] and window == windows[0][1]:
            into["fill"] += fill[1] - fill[0] - length(near(fill, busy), fill)
        into["idle"] += window[1] - window[0] - busy_ns - into["fill"]
    return found


def _host(events: list[Event], steps: Steps) -> Parts:
    found: Parts = defaultdict(Counter)
    layers = outermost(events)
    spans = {layer: [(e["start"], e["end"]) for e in members] for layer, members in layers.items()}
    wall = _host_wall(spans.values(), steps)
    edges = {time for pair in steps.numbered.values() for time in pair} | {*wall}
    times = sorted(time for time in edges if wall[0] <= time <= wall[1])
    work, busy = merged(spans["work"]), merged(spans["work"] + spans["compiled_code"])
    for interval in pairwise(times):
        into = found[steps.at(interval[0])]
        into["compute"] += length(spans["work"], interval)
        into["overlap"] += length(work, interval) - length(spans["work"], interval)
        into["compiled_code"] += length(busy, interval) - length(work, interval)
        into["idle"] += interval[1] - interval[0] - length(busy, interval)
    return found


def _host_wall(spans: Iterable[list[Interval]], steps: Steps) -> Interval:
    ours = [
        (s, e) for members in spans for s, e in members if steps.is_whole or steps.at(s) is not None
    ]
    return window_of(ours, steps.windows)


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
    spans = [[(e["start"], e["end"]) for e in members] for members in layers.values()]
    window = _host_wall(spans, steps)
    for op in layers["work"]:
        at_once = op["start"] == op["end"] and window[0] <= op["start"] <= window[1]
        lasts = length([(op["start"], op["end"])], window) > 0
        found[steps.at(op["start"])]["activities"] += at_once or lasts
    busy = [(e["start"], e["end"]) for e in layers["work"] + layers["compiled_code"]]
    for start, end in gaps_in(window, merged(busy)):
        found[steps.at(start if end == window[1] else end)]["bubbles"] += 1
    return found


def gaps_in(window: Interval, busy: list[Interval]) -> list[Interval]:
    """Return the idle intervals in a window; `busy` is a union."""
    edges = [window[0], *(time for span in near(window, busy) for time in span), window[1]]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    return [(start, end) for start, end in gaps if end > start]


def _counts(activities: list[Event], steps: Steps) -> Parts:
    activities = sorted(activities, key=lambda e: e["start"])
    wall = _wall(activities, steps)
    spans: dict[str, list[Interval]] = defaultdict(list)
    for event in activities:
        spans[class_of(event)].append((event["start"], event["end"]))
    compute = merged(spans["compute"])
    working = merged(spans["compute"] + spans["communication"])
    busy = merged(working + spans["copy"])
    found: Parts = defaultdict(Counter)
    for step, window in windows_of(activities, steps):
        working_ns = length(near(window, working), window)
        compute_ns = length(near(window, compute), window)
        found[step]["exposed_communication_ns"] += working_ns - compute_ns
        found[step]["exposed_copy_ns"] += length(near(window, busy), window) - working_ns
    first_at = {event["start"]: event for event in reversed(activities)}
    for start, end in gaps_in(wall, busy):
        event = first_at.get(end)
        found[steps.at(event["launched_ns"] if event else start)]["bubbles"] += 1
    called: set[tuple[int | None, int]] = set()
    for event in activities:
        at_once = event["start"] == event["end"] and wall[0] <= event["start"] <= wall[1]
        if not at_once and not length([(event["start"], event["end"])], wall):
            continue
        step = steps.at(event["launched_ns"])
        found[step]["activities"] += 1
        if event["cat"] in KERNEL:
            found[step]["kernels"] += 1
            _count_launch(found[step], event, step, called)
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

    Of two middle steps, return the shorter. A step that fills the pipeline does not count.
    """
    if is_whole:
        return None
    walls = sorted(
        (sum(by_part.values()), step)
        for step, by_part in found.items()
        if step is not None and not by_part["fill"]
    )
    return walls[(len(walls) - 1) // 2][1]


def nonzero(found: dict[Any, Counter[str]]) -> dict[Any, dict[str, int]]:
    """Return the parts that are not 0."""
    kept = {
        step: {part: ns for part, ns in by_part.items() if ns} for step, by_part in found.items()
    }
    return {step: by_part for step, by_part in kept.items() if by_part}

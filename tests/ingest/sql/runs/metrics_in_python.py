"""The metrics of a run from the raw events of its trace, in plain Python.

This module uses none of tracehouse's own code. Intervals are pairs of integers: ns on the trace's
clock.
"""

import gc
import gzip
import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Interval = tuple[int, int]

KERNEL = {"kernel", "Kernel"}
COPY = {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}
# All other events are kernels.
MTIA = {"dma_request": "gpu_memcpy", "event_wait": "no work", "event_record": "no work"}
LAUNCH = {"cuda_runtime", "cuda_driver", "Runtime", "mtia_runtime"}
OP = {"cpu_op", "Operator"}
HOST = {*LAUNCH, *OP, "user_annotation", "python_function"}
WRAPPER = re.compile(
    r"Torch-Compiled Region|CompiledFunction|CompiledFxGraph|## Call CompiledFxGraph|TorchDynamo |"
    r"autograd::engine::evaluate_function|ProfilerStep"
)
COLLECTIVE = re.compile(  # names in libraries, in symmetric memory, and custom names
    r"[nrh]ccl|cncl|oneccl|nvshmem|mscclpp|multimem_|lamport|userbuffers|quick_?reduce|"
    r"shot_?all_?(reduce|gather)|cross_device_|allreduce_fusion|deep_ep::|\bmori[:_]|"
    r"triton_all_reduce",
    re.IGNORECASE,
)


def read(path: Path) -> list[Event]:
    """Return the complete events of a trace, with `start` and `end` in ns."""
    gc.disable()  # it would search a million new dictionaries again and again
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            content = json.loads(file.read(), parse_float=Decimal)
        return complete(content["traceEvents"] if isinstance(content, dict) else content)
    finally:
        gc.enable()


def complete(events: Iterable[Event]) -> list[Event]:
    """Return the complete events among these, with `start` and `end` in ns."""
    found = []
    for event in events:
        if event.get("ph") == "X" and "ts" in event and event.get("dur") is not None:
            start = ns(event["ts"])
            times = {"start": start, "end": start + ns(event["dur"])}
            found.append({**event, "cat": _category(event), **times})
    return found


def _category(event: Event) -> Any:
    if event.get("cat") == "mtia_ccp_events":
        return MTIA.get(event["name"], "kernel")
    return event.get("cat")


def ns(microseconds: Any) -> int:
    return round(microseconds * 1000)


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union of the intervals, as intervals that do not touch."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def length(intervals: Iterable[Interval], window: Interval | None = None) -> int:
    """Return the total length of the intervals inside the window."""
    first, last = window or (-(1 << 62), 1 << 62)
    return sum(max(min(end, last) - max(start, first), 0) for start, end in intervals)


def near(window: Interval, union: list[Interval]) -> list[Interval]:
    """Return those of the intervals of a union that overlap the window."""
    first = bisect_right(union, window[0], key=lambda interval: interval[1])
    return union[first : bisect_left(union, window[1], key=lambda interval: interval[0])]


def steps_of(events: list[Event], name: str | None) -> list[Interval]:
    """Return the profiler's steps, the calls of annotation or module `name`, or the recording."""
    if name is None:
        inside = [e for e in events if e["cat"] in HOST | KERNEL | COPY]
        return [(min(e["start"] for e in inside), max(e["end"] for e in inside))]
    kinds = {"user_annotation", "python_function"} | OP
    if name == "ProfilerStep":
        return [
            (e["start"], e["end"])
            for e in events
            if e["cat"] in kinds and e["name"].startswith("ProfilerStep#")
        ]
    return [
        (e["start"], e["end"]) for e in events if e["cat"] in kinds and is_called(name, e["name"])
    ]


def is_called(name: str | None, text: str) -> bool:
    """Return whether a text is this name, or this name with a number."""
    return name in (text, without_number(text))


@cache
def without_number(text: str) -> str:
    return re.sub(r"[ #_:.-]*\d+$", "", text)


def calls_of(events: list[Event]) -> dict[int, Event]:
    """Return the first launch call of each correlation."""
    calls: dict[int, Event] = {}
    for event in events:
        if event["cat"] in LAUNCH and (number := (event.get("args") or {}).get("correlation")):
            calls.setdefault(number, event)
    return calls


def metrics(events: list[Event], step_name: str | None) -> dict[int | None, dict[str, Any]]:
    """Return the metrics of each device.

    If there is no device, the key None has the host's metrics.
    """
    steps = steps_of(events, step_name)
    device = [e for e in events if e["cat"] in KERNEL | COPY]
    if not device:
        return {None: _host(events, steps, without_steps=step_name is None)}
    calls = calls_of(events)
    groups = defaultdict(list)
    for event in device:
        arguments = event.get("args") or {}
        event["call"] = calls.get(arguments.get("correlation"))
        groups[int(arguments.get("device", event["pid"]))].append(event)
    return {
        number: _device(group, steps, bool(calls), without_steps=step_name is None)
        for number, group in groups.items()
    }


def _device(
    activities: list[Event], steps: list[Interval], launches: bool, without_steps: bool
) -> dict[str, Any]:
    def launch_start(event: Event) -> int:
        return int((event["call"] or event)["start"])

    ours = [
        e for e in activities if without_steps or any(s <= launch_start(e) < t for s, t in steps)
    ]
    window = window_of([(e["start"], e["end"]) for e in ours], steps)
    inside = [
        e
        for e in activities
        if length([(e["start"], e["end"])], window)  # empty if the window has no length
        or (e["start"] == e["end"] and window[0] <= e["start"] <= window[1])
    ]
    classes: dict[str, list[Interval]] = {"compute": [], "communication": [], "copy": []}
    for event in activities:
        classes[class_of(event)].append((event["start"], event["end"]))
    everything = merged((e["start"], e["end"]) for e in activities)
    working = merged(classes["compute"] + classes["communication"])
    kernels = [e for e in inside if e["cat"] in KERNEL]
    called = {id(e["call"]): e["call"] for e in kernels if e["call"]}
    graphs = {key for key, call in called.items() if "GraphLaunch" in call["name"]}
    busy = length(everything, window)
    return {
        "wall_ns": window[1] - window[0],
        "busy_ns": busy,
        "idle_ns": window[1] - window[0] - busy,
        "bubbles": idle_times(window, everything),
        "compute_ns": length(classes["compute"], window),
        "communication_ns": length(classes["communication"], window),
        "copy_ns": length(classes["copy"], window),
        "compiled_code_ns": None,
        "overlap_ns": sum(length(c, window) for c in classes.values()) - busy,
        "exposed_communication_ns": length(working, window)
        - length(merged(classes["compute"]), window),
        "exposed_copy_ns": busy - length(working, window),
        "outside_busy_ns": length(everything) - busy,
        "activities": len(inside),
        "kernels": len(kernels),
        "launches": len(called) if launches else None,
        "graph_launches": len(graphs) if launches else None,
        "launch_call_ns": sum(e["end"] - e["start"] for e in called.values()) if launches else None,
        "short_kernels": sum(
            e["end"] - e["start"] < e["call"]["end"] - e["call"]["start"]
            for e in kernels
            if e["call"] and id(e["call"]) not in graphs
        )
        if launches
        else None,
    }


def class_of(event: Event) -> str:
    """Return the class of a device event: compute, communication or copy."""
    if event["cat"] in COPY:
        return "copy"
    return "communication" if _is_collective(event["name"]) else "compute"


@cache
def _is_collective(name: str) -> bool:
    return COLLECTIVE.search(name) is not None


def outermost(events: list[Event]) -> dict[str, list[Event]]:
    """Return the host's outermost operators by layer, and its calls of compiled graphs."""
    layers: dict[str, list[Event]] = {
        "work": [],
        "compiled_code": [],
        "loading": [],
        "compiling": [],
    }
    threads = defaultdict(list)
    for event in events:
        if event["cat"] in OP and not WRAPPER.match(event["name"]):
            threads[event["pid"], event["tid"]].append(event)
        if event["cat"] in {*OP, "user_annotation"} and re.match(
            "(## Call )?CompiledFxGraph", event["name"]
        ):
            layers["compiled_code"].append(event)
    for ops in threads.values():
        reached = None
        for op in sorted(ops, key=lambda e: (e["start"], -e["end"])):
            if reached is None or op["start"] >= reached:
                layers[_layer(op["name"])].append(op)
            reached = max(reached or op["end"], op["end"])
    return layers


def _host(events: list[Event], steps: list[Interval], without_steps: bool) -> dict[str, Any]:
    layers = outermost(events)
    spans = {layer: [(e["start"], e["end"]) for e in members] for layer, members in layers.items()}
    ours = [
        (s, e)
        for members in spans.values()
        for s, e in members
        if without_steps or any(first <= s < last for first, last in steps)
    ]
    window = window_of(ours, steps)
    work = merged(spans["work"])
    busy = merged(spans["work"] + spans["compiled_code"])
    loading = merged(busy + spans["loading"])
    everything = merged(loading + spans["compiling"])
    return {
        "wall_ns": window[1] - window[0],
        "busy_ns": length(busy, window),
        "idle_ns": window[1] - window[0] - length(busy, window),
        "idle_host_ns": window[1] - window[0] - length(everything, window),
        "idle_dataloader_ns": length(loading, window) - length(busy, window),
        "idle_compile_ns": length(everything, window) - length(loading, window),
        "compute_ns": length(spans["work"], window),
        "compiled_code_ns": length(busy, window) - length(work, window),
        "overlap_ns": length(spans["work"], window) - length(work, window),
        "outside_busy_ns": length(busy) - length(busy, window),
        "kernels": None,
        "launches": None,
        "communication_ns": None,
        "copy_ns": None,
        "idle_sync_ns": None,
    }


def _layer(name: str) -> str:
    if name in {"dynamo", "entire_frame_compile"} or name.endswith("(dynamo_timed)"):
        return "compiling"
    return "loading" if name.startswith("enumerate(DataLoader)") else "work"


def idle_times(window: Interval, busy: list[Interval]) -> int:
    """Return the number of idle intervals in a window; `busy` is a union."""
    edges = [window[0], *(time for span in near(window, busy) for time in span), window[1]]
    return sum(end > start for start, end in zip(edges[::2], edges[1::2], strict=True))


def window_of(launched: list[Interval], steps: list[Interval]) -> Interval:
    """Return the time of the steps and of the work that they launched."""
    starts, ends = zip(*steps, *launched, strict=True)
    return min(starts), max(ends)

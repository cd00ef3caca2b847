"""Metrics of streams, computed in plain Python from the raw events of a trace.

Each function returns rows with columns of a view. Times are ns since the first activity.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
from math import fsum
from statistics import mean, median, stdev
from typing import Any

from tests.ingest.sql.runs.metrics_in_python import length, merged
from tests.ingest.sql.streams.trace_in_python import Activity

Row = tuple[Any, ...]
CLASSES = ("communication", "compute", "memcpy", "memset")


def grouped(items: Iterable[Activity], key: Callable[[Activity], Row]) -> dict[Row, list[Activity]]:
    """Return the activities by key, without annotations."""
    groups: dict[Row, list[Activity]] = defaultdict(list)
    for item in items:
        if item.kind != "annotation":
            groups[key(item)].append(item)
    return groups


def summary(values: list[int]) -> Row:
    """Return count, sum, minimum, median, mean, maximum and standard deviation."""
    spread = stdev(values) if len(values) > 1 else None
    minimum, maximum = min(values), max(values)
    return len(values), sum(values), minimum, median(values), mean(values), maximum, spread


def temporal(trace: list[Activity]) -> list[Row]:
    """Return device, kind, ns."""
    rows = []
    for (device,), items in grouped(trace, lambda a: (a.device,)).items():
        busy = length(merged((a.start, a.end) for a in items))
        compute = length(merged((a.start, a.end) for a in items if a.kind == "compute"))
        span = max(a.end for a in items) - min(a.start for a in items)
        parts = {"compute": compute, "non_compute": busy - compute, "idle": span - busy}
        rows += [(device, kind, ns) for kind, ns in parts.items() if ns]
    return rows


def gaps(trace: list[Activity]) -> list[Row]:
    """Return device, stream, start, duration, time from the start to the launch."""
    rows = []
    for key, items in grouped(trace, lambda a: (a.device, a.stream)).items():
        reached = None
        for item in sorted(items, key=lambda a: a.start):
            if reached is not None and item.start > reached:
                delay = item.launched_at - reached if item.call else None
                rows.append((*key, reached, item.start - reached, delay))
            reached = max(reached or item.end, item.end)
    return rows


def idle(trace: list[Activity], threshold: int = 30_000) -> list[Row]:
    """Return device, stream, cause, summary of the gaps."""
    causes: dict[Row, list[int]] = defaultdict(list)
    for device, stream, _, ns, delay in gaps(trace):
        if delay is None:
            cause = "unknown"
        elif delay > 0:
            cause = "host_wait"
        else:
            cause = "kernel_wait" if ns < threshold else "other"
        causes[device, stream, cause].append(ns)
    return [(*key, *summary(values)) for key, values in causes.items()]


def overlap(trace: list[Activity]) -> list[Row]:
    """Return device, classes, time in which exactly these ran, by inclusion and exclusion."""
    rows = []
    subsets = [set(chosen) for n in range(5) for chosen in combinations(CLASSES, n)]
    for (device,), items in grouped(trace, lambda a: (a.device,)).items():
        union = {
            frozenset(chosen): length(merged((a.start, a.end) for a in items if a.kind in chosen))
            for chosen in subsets
        }
        everything = frozenset(CLASSES)
        for chosen in subsets[1:]:
            ns = sum(
                (-1) ** len(chosen - some) * (union[everything] - union[everything - some])
                for some in subsets
                if some <= chosen
            )
            if ns:
                rows.append((device, "+".join(sorted(chosen)), ns))
    return rows


def launches(trace: list[Activity]) -> list[Row]:
    """Return device, API, calls, activities and the metrics of `launch_statistics`, in order."""
    calls = grouped((a for a in trace if a.call), lambda a: (a.device, id(a.call)))
    groups: dict[Row, list[tuple[int, int, int, int]]] = defaultdict(list)
    for (device, _), items in calls.items():
        call: Any = items[0].call
        delay = max(0, min(a.start for a in items) - call["end"])
        values = len(items), call["end"] - call["start"], sum(a.ns for a in items), delay
        groups[device, call["name"]].append(values)
    rows = []
    for key, group in groups.items():
        counts, call_ns, device_ns, delays = (list(values) for values in zip(*group, strict=True))
        rows.append(
            (
                *(*key, len(group), sum(counts), sum(call_ns), median(call_ns), max(call_ns)),
                *(sum(device_ns), sum(delays), median(delays), mean(delays), max(delays)),
                delays.count(0),
                sum(work < call for work, call in zip(device_ns, call_ns, strict=True)),
                sum(ns > 50_000 for ns in call_ns),
                sum(ns > 100_000 for ns in delays),
            )
        )
    return rows


def queues(trace: list[Activity]) -> list[Row]:
    """Return device, stream, time, launches at that time, length until the next row."""
    known = (a for a in trace if a.call)
    waits: dict[Row, list[tuple[int, int]]] = defaultdict(list)
    for (*key, _), items in grouped(known, lambda a: (a.device, a.stream, id(a.call))).items():
        begin = min(a.start for a in items)
        waits[tuple(key)].append((min(items[0].launched_at, begin), begin))
    rows = []
    for key, pairs in waits.items():
        changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for launch, begin in pairs:
            changes[launch][0] += 1
            changes[begin][1] += 1
        waiting = 0
        for time, (launched, begun) in sorted(changes.items()):
            waiting += launched - begun
            rows.append((*key, time, launched, waiting))
    return rows


def queue_means(trace: list[Activity], full: int = 1024) -> list[Row]:
    """Return device, stream, launches, mean and maximum length, time, time with 1 and `full`."""
    lanes: dict[Row, list[Row]] = defaultdict(list)
    for *key, time, launched, waiting in queues(trace):
        lanes[tuple(key)].append((time, launched, waiting))
    rows = []
    for key, changes in lanes.items():
        spent = [(n, until - t) for (t, _, n), (until, *_) in pairwise(changes)]
        total = sum(ns for _, ns in spent)
        launched, maximum = sum(c[1] for c in changes), max(c[2] for c in changes)
        mean_length = sum(n * ns for n, ns in spent) / total if total else None
        blocked = (sum(ns for n, ns in spent if n >= limit) for limit in (1, full))
        rows.append((*key, launched, mean_length, maximum, total, *blocked))
    return rows


def bandwidth(trace: list[Activity]) -> list[Row]:
    """Return device, kind of copy, time, running copies until the next row, their bandwidth."""
    rows = []
    rated = (a for a in trace if a.rate is not None and a.ns and a.kind in ("memcpy", "memset"))
    for key, items in grouped(rated, lambda a: (a.device, a.copy)).items():
        for time in sorted({time for a in items for time in (a.start, a.end)}):
            running = [a for a in items if a.start <= time < a.end]
            rate = fsum(a.rate or 0 for a in running)
            rows.append((*key, time, len(running), rate))
    return rows


def copies(trace: list[Activity]) -> list[Row]:
    """Return device, kind of copy, copies, copies without a size, bytes, time, and the mean,
    minimum, median and maximum rate."""
    rows = []
    found = (a for a in trace if a.kind in ("memcpy", "memset"))
    for key, items in grouped(found, lambda a: (a.device, a.copy)).items():
        sizes = [a.bytes for a in items if a.bytes is not None]
        rates = [(a.rate, a.ns) for a in items if a.rate is not None]
        statistics: Row = (None,) * 4
        if rates:
            ns = sum(ns for _, ns in rates)
            mean_rate = fsum(rate * ns for rate, ns in rates) / ns if ns else None
            known = [rate for rate, _ in rates]
            statistics = mean_rate, min(known), median(known), max(known)
        moved = sum(sizes) if sizes else None
        unsized = len(items) - len(sizes)
        rows.append((*key, len(items), unsized, moved, sum(a.ns for a in items), *statistics))
    return rows


def kernel_times(trace: list[Activity]) -> list[Row]:
    """Return device, class, name, summary of the durations."""
    classes = {"memcpy": "copy", "memset": "copy"}
    groups = grouped(trace, lambda a: (a.device, classes.get(a.kind, a.kind), a.name))
    return [(*key, *summary([a.ns for a in items])) for key, items in groups.items()]


def sequences(trace: list[Activity]) -> list[Row]:
    """Return device, innermost operator, kernels in launch order, operators, time."""
    groups = grouped((a for a in trace if a.op), lambda a: (a.device, id(a.op)))
    found: dict[Row, list[int]] = defaultdict(list)
    for (device, _), items in groups.items():
        op: Any = items[0].op
        ordered = sorted(items, key=lambda a: (a.launched_at, a.start))
        found[device, op["name"], tuple(a.name for a in ordered)].append(sum(a.ns for a in items))
    return [(*key, len(times), sum(times)) for key, times in found.items()]


def delays(trace: list[Activity]) -> list[Row]:
    """Return device, innermost operator, launches, activities, time from its start to its first
    launch, and time from that launch to the start of its activity."""
    rows = []
    groups = grouped((a for a in trace if a.op), lambda a: (a.device, id(a.op)))
    for (device, _), items in groups.items():
        op: Any = items[0].op
        first = min(items, key=lambda a: (a.launched_at, a.start))
        counts = len({id(a.call) for a in items}), len(items)
        rows.append(
            (
                device,
                op["name"],
                *counts,
                first.launched_at - op["start"],
                first.start - first.launched_at,
            )
        )
    return rows


def annotations(trace: list[Activity]) -> list[Row]:
    """Return device, stream, name, annotations and their time, annotations without others inside
    and their time, and the activities directly inside and their time."""
    lanes = grouped(trace, lambda a: (a.device, a.stream))
    around: dict[Row, list[Activity]] = defaultdict(list)
    for item in trace:
        if item.kind == "annotation":
            around[item.device, item.stream].append(item)
    found: dict[Row, list[int]] = defaultdict(lambda: [0] * 6)
    for key, spans in around.items():
        for span in spans:
            leaf = not any(
                span.start <= other.start < span.end for other in spans if other is not span
            )
            counted = found[(*key, span.name)]
            for index, value in enumerate((1, span.ns, leaf, span.ns * leaf)):
                counted[index] += value
        for item in lanes.get(key, []):
            around_item = [span for span in spans if span.start <= item.start < span.end]
            if around_item:
                owner = max(around_item, key=lambda span: (span.start, -span.end))
                found[(*key, owner.name)][4] += 1
                found[(*key, owner.name)][5] += item.ns
    return [(*key, *counted) for key, counted in found.items()]

"""The events that HTA 0.6.1 uses for a critical path, read from a parsed trace.

Times are whole µs. An event's id is its index in `traceEvents`.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

DEVICE_SYNC = {"Event Sync", "Context Sync"}  # device events whose stream may be -1
ARGS = "stream", "correlation", "wait_on_cuda_event_record_corr_id", "wait_on_stream"


@dataclass(slots=True)
class Event:
    id: int
    name: str
    category: str
    pid: Any
    tid: Any
    ts: int
    end: int
    stream: int = -1
    correlation: int = -1
    record: int = -1  # correlation of the cudaEventRecord that a sync waits for
    record_stream: int = -1
    link: int = -1  # the launched or launching event, or 0 if the trace lacks it
    on_device: bool = False


Events = dict[int, Event]


def read_events(trace: dict[str, Any]) -> Events:
    """Read and link the complete events. Starts round up and ends down, so a duration can be -1."""
    events: Events = {}
    device = defaultdict(list)
    for id, e in enumerate(trace["traceEvents"]):
        if e.get("dur") is None or e.get("cat") in (None, "Trace"):
            continue
        args = [(e.get("args") or {}).get(key, -1) for key in ARGS]
        ts, end = math.ceil(e["ts"]), math.floor(e["ts"] + e["dur"])
        event = events[id] = Event(id, e["name"], e["cat"], e["pid"], e["tid"], ts, end, *args)
        event.link = min(event.correlation, 0)
        event.on_device = event.name in DEVICE_SYNC or min(event.stream, event.correlation) >= 0
        if event.on_device and event.correlation != -1:
            device[event.correlation].append(event)
    for host in events.values():
        for d in () if host.on_device else device.get(host.correlation, ()):
            host.link, d.link = d.id, host.id  # the last of several device events wins
    return events


def drop_last_step(events: Events) -> Events:
    """Drop events that start in or after the last of several steps, and what they launched."""
    steps = [e for e in events.values() if e.name.startswith("ProfilerStep") and not e.on_device]
    if len({e.name for e in steps}) < 2:
        return events
    last = max(e.ts for e in steps)
    host = {e.id: e for e in events.values() if not e.on_device and e.ts < last}
    known = {e.correlation for e in host.values()}
    return {e.id: e for e in events.values() if e.on_device and e.correlation in known} | host


def clip(events: Events, annotation: str, instance: int) -> Events:
    """Keep host events that start in the window, what they launch, and every stream wait."""
    named = [e for e in events.values() if annotation in e.name]
    if not 0 <= instance < len(named):
        raise ValueError(f"no instance {instance} among {len(named)} of {annotation!r}")
    first, last = named[instance].ts, named[instance].end
    device = [e for e in events.values() if e.stream != -1]
    host = [e for e in events.values() if e.stream == -1 and first <= e.ts <= last and e.end > e.ts]
    launched = {e.link for e in host}
    kept = host + [e for e in device if e.id in launched or e.name == "Stream Wait Event"]
    return {e.id: e for e in sorted(kept, key=lambda e: e.id)}


def queue_lengths(events: Events, launches: list[Event]) -> dict[int, int]:
    """Count the waiting activities of a stream after each launch and each start."""
    correlations = {e.correlation for e in launches}
    steps = [(e.ts, 1, e.id, events[e.link].stream) for e in launches]
    started = [e for e in events.values() if e.stream != -1 and e.correlation in correlations]
    steps += [(e.ts, -1, e.id, e.stream) for e in started]
    lengths: Counter[int] = Counter()
    after = {}
    for _, change, id, stream in sorted(steps, key=lambda step: step[0]):
        lengths[stream] += change
        after[id] = lengths[stream]
    return after


def event_kernels(events: Events, launches: list[Event]) -> tuple[dict[int, int], dict[int, int]]:
    """Map a recorded CUDA event to its stream's last kernel, a wait to its thread's next one."""
    queues: defaultdict[Any, list[Event]] = defaultdict(list)
    for launch in launches:
        kernel = events[launch.link]
        queues[kernel.pid, kernel.stream].append(launch)
        queues[launch.pid, launch.tid, kernel.stream].append(launch)

    def kernel_at(queue: list[Event], ts: int, offset: int) -> int:
        index = bisect_right(queue, ts, key=lambda launch: launch.ts) + offset
        return queue[index].link if 0 <= index < len(queue) else -1

    streams = {e.record: (e.pid, e.record_stream) for e in events.values() if e.record_stream > -1}
    recorded, waiting = {}, {}
    for e in events.values():
        if e.name == "cudaEventRecord" and e.correlation in streams:
            recorded[e.correlation] = kernel_at(queues[streams[e.correlation]], e.ts, -1)
        elif e.name == "cudaStreamWaitEvent" and e.link > 0:
            waiting[e.id] = kernel_at(queues[e.pid, e.tid, events[e.link].stream], e.ts, 0)
    return recorded, waiting

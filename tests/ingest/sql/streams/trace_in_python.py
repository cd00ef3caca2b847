"""Device activities with their launches and operators, from the raw events of a trace."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ingest.sql.runs.metrics_in_python import COPY, KERNEL, LAUNCH, OP, Event, class_of, read

ANNOTATION = "gpu_user_annotation"


@dataclass(frozen=True)
class Activity:
    """A kernel, copy, set or annotation on a device, with its launch and the operator around it."""

    device: int
    stream: int
    name: str
    kind: str
    bytes: int | None
    recorded_rate: float | None
    start: int
    end: int
    call: Event | None
    op: Event | None

    @property
    def ns(self) -> int:
        return self.end - self.start

    @property
    def rate(self) -> float | None:
        """Bandwidth of a copy in GB/s: the recorded one, else bytes divided by duration."""
        computed = self.bytes / self.ns if self.bytes is not None and self.ns else None
        return float(self.recorded_rate) if self.recorded_rate else computed

    @property
    def copy(self) -> str:
        """Kind of copy."""
        return self.name.partition("(")[0].strip()

    @property
    def launched_at(self) -> int:
        """Start of the launch in ns. The launch must be known."""
        assert self.call
        return int(self.call["start"])


def activities(path: Path) -> list[Activity]:
    """Return the device activities and annotations of a trace, in file order."""
    events = read(path)
    on_devices = [event for event in events if event["cat"] in {*KERNEL, *COPY, ANNOTATION}]
    first = min(event["start"] for event in on_devices if event["cat"] != ANNOTATION)
    calls: dict[int, Event] = {}
    for event in events:
        event["start"], event["end"] = event["start"] - first, event["end"] - first
        correlation = _argument(event, "correlation")
        if event["cat"] in LAUNCH and correlation:
            calls.setdefault(correlation, event)
    ops = innermost([e for e in events if e["cat"] in OP], calls.values())
    found = []
    for event in on_devices:
        call = calls.get(_argument(event, "correlation"))
        found.append(
            Activity(
                int(_argument(event, "device", event["pid"])),
                int(_argument(event, "stream", event["tid"])),
                event["name"],
                _kind(event),
                _argument(event, "bytes", _argument(event, "size")),
                _argument(event, "memory bandwidth (GB/s)"),
                event["start"],
                event["end"],
                call,
                ops.get(id(call)),
            )
        )
    return found


def _argument(event: Event, name: str, default: Any = None) -> Any:
    return (event.get("args") or {}).get(name, default)


def _kind(event: Event) -> str:
    if event["cat"] in COPY:
        return event["cat"].lower().removeprefix("gpu_")
    return "annotation" if event["cat"] == ANNOTATION else class_of(event)


def innermost(ops: list[Event], calls: Iterable[Event]) -> dict[int, Event]:
    """Return the innermost operator around the start of each call, by the id of the call."""
    found: dict[int, Event] = {}
    threads: dict[Any, tuple[list[Event], list[Event]]] = defaultdict(lambda: ([], []))
    for index, events in enumerate((ops, calls)):
        for event in events:
            threads[event["pid"], event["tid"]][index].append(event)
    for around, inside in threads.values():
        around.sort(key=lambda e: (e["start"], -e["end"], _argument(e, "Ev Idx", 0)))
        around.reverse()
        open_ops: list[Event] = []
        for call in sorted(inside, key=lambda e: e["start"]):
            while around and around[-1]["start"] <= call["start"]:
                open_ops.append(around.pop())
            while open_ops and open_ops[-1]["end"] <= call["start"]:
                open_ops.pop()
            if open_ops:
                found[id(call)] = open_ops[-1]
    return found

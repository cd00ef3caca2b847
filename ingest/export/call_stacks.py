"""Call stacks for speedscope and flamegraph.pl, with each call's self time or memory.

These formats allow no negative values. A call that freed more memory than it allocated counts as 0.
"""

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import duckdb

from ingest.errors import MissingError

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
FRAME = re.compile(r"(?P<file>.*)\((?P<line>\d+)\): (?P<name>.*)", re.DOTALL)
FORBIDDEN = str.maketrans(" ;\t\n\r", "_____")  # as in torch's export_stacks


class Metric(StrEnum):
    """The quantity that call stacks are weighted by."""

    host = "host"
    device = "device"
    idle = "idle"
    cpu_memory = "cpu-memory"
    device_memory = "device-memory"


class Counted(NamedTuple):
    """A column of `call_stacks`, its description, and speedscope's name of its unit."""

    column: str
    description: str
    unit: str


METRICS = {
    Metric.host: Counted("self_ns", "host time", "nanoseconds"),
    Metric.device: Counted("self_device_ns", "device time", "nanoseconds"),
    Metric.idle: Counted("self_idle_ns", "device idle time", "nanoseconds"),
    Metric.cpu_memory: Counted("self_cpu_bytes", "host memory", "bytes"),
    Metric.device_memory: Counted("self_device_bytes", "device memory", "bytes"),
}


class Call(NamedTuple):
    """A call in its thread's tree. `caller` is the id of the caller; `value` excludes callees."""

    id: str
    caller: str | None
    name: str
    value: int


Threads = dict[tuple[int, str | None, str | None], list[Call]]


def collapsed(
    connection: duckdb.DuckDBPyConnection, run_id: str, counted: Counted, step: int | None
) -> Iterator[str]:
    """Yield lines `outermost;…;innermost value`, in the format of torch's `export_stacks`.

    Values are in ns or bytes. Raise MissingError if there is nothing to write.
    """
    return _collapsed(_threads(connection, run_id, counted, step))


def _collapsed(threads: Threads) -> Iterator[str]:
    for calls in threads.values():
        known = {call.id: call for call in calls}
        for call in calls:
            if call.value <= 0:
                continue
            names = []
            around: Call | None = call
            while around:
                names.append(around.name.translate(FORBIDDEN))
                around = known.get(around.caller or "")
            yield f"{';'.join(reversed(names))} {call.value}\n"


def speedscope(
    connection: duckdb.DuckDBPyConnection, run_id: str, counted: Counted, step: int | None
) -> Iterator[str]:
    """Yield the text of a speedscope file, with a profile for each thread.

    Raise MissingError if there is nothing to write.
    """
    threads = _threads(connection, run_id, counted, step)
    names = sorted({call.name for calls in threads.values() for call in calls})
    frames = {name: index for index, name in enumerate(names)}
    return _speedscope(run_id, threads, frames, counted.unit)


def _speedscope(run_id: str, threads: Threads, frames: dict[str, int], unit: str) -> Iterator[str]:
    shared = json.dumps({"frames": [_frame(name) for name in frames]})
    yield f'{{"$schema": "{SCHEMA}", "name": {json.dumps(run_id)}, "exporter": "tracehouse", '
    yield f'"shared": {shared}, "profiles": ['
    for index, ((rank, pid, tid), calls) in enumerate(threads.items()):
        events, end = _events(calls, frames)
        of = "activities without a launch" if pid is None else f"process {pid}, thread {tid}"
        profile = {
            "type": "evented",
            "name": f"rank {rank}, {of}",
            "unit": unit,
            "startValue": 0,
            "endValue": end,
            "events": events,
        }
        yield (", " if index else "") + json.dumps(profile)
    yield "]}\n"


def _frame(name: str) -> dict[str, Any]:
    if found := FRAME.fullmatch(name):
        return {"name": found["name"], "file": found["file"], "line": int(found["line"])}
    return {"name": name}


def _events(calls: list[Call], frames: dict[str, int]) -> tuple[list[dict[str, Any]], int]:
    """Return speedscope's open and close events of the calls, and the end of the last one.

    Calls of one caller follow each other, the largest total value first.
    """
    callees: dict[str | None, list[Call]] = {}
    known = {call.id for call in calls}
    for call in calls:
        callees.setdefault(call.caller if call.caller in known else None, []).append(call)
    totals = dict.fromkeys(known, 0)
    order = list(callees.get(None, []))
    for call in order:  # callers before callees; the list grows during the loop
        order += callees.get(call.id, [])
    for call in reversed(order):
        totals[call.id] += max(call.value, 0)
        if call.caller in totals:
            totals[call.caller] += totals[call.id]
    events: list[dict[str, Any]] = []
    at = 0
    waiting: list[tuple[Call, bool]] = [(call, True) for call in callees.get(None, [])]
    waiting.sort(key=lambda each: totals[each[0].id])
    while waiting:
        call, opens = waiting.pop()
        if not opens:
            at += max(call.value, 0)
        elif not totals[call.id]:
            continue
        events.append({"type": "O" if opens else "C", "frame": frames[call.name], "at": at})
        if opens:
            waiting.append((call, False))
            inner = sorted(callees.get(call.id, []), key=lambda each: (totals[each.id], each.name))
            waiting += [(each, True) for each in inner]
    return events, at


def _threads(
    connection: duckdb.DuckDBPyConnection, run_id: str, counted: Counted, step: int | None
) -> Threads:
    """Return the calls of each thread, with their values in the step, or in the whole run.

    Calls outside of the step that contain calls of the step are kept, with value 0.
    """
    rows = connection.execute(
        f"""
        SELECT
            rank, pid, tid, id, any_value(caller_id), any_value(name),
            coalesce(sum({counted.column}) FILTER ($2 IS NULL OR step = $2), 0)::BIGINT
        FROM call_stacks($1)
        GROUP BY rank, pid, tid, id
        ORDER BY rank, pid, tid, id
        """,
        [run_id, step],
    ).fetchall()
    threads: Threads = {}
    for rank, pid, tid, *call in rows:
        threads.setdefault((rank, pid, tid), []).append(Call(*call))
    threads = {
        thread: calls for thread, calls in threads.items() if any(call.value > 0 for call in calls)
    }
    if not threads:
        where = "" if step is None else f" in step {step}"
        raise MissingError(f"{run_id}: no {counted.description} was recorded{where}")
    return threads

"""Call stacks for speedscope and flamegraph.pl: what called what, and what each took itself.

A value below 0, such as the memory that a call freed, has no place in these files and is left out.
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
    """What is counted."""

    host = "host"
    device = "device"
    idle = "idle"
    cpu_memory = "cpu-memory"
    device_memory = "device-memory"


class Counted(NamedTuple):
    """A column of `call_stacks`, what it holds, and speedscope's name of its unit."""

    column: str
    what: str
    unit: str


METRICS = {
    Metric.host: Counted("self_ns", "time of calls on the host", "nanoseconds"),
    Metric.device: Counted("self_device_ns", "time of a device", "nanoseconds"),
    Metric.idle: Counted("self_idle_ns", "idle time of a device", "nanoseconds"),
    Metric.cpu_memory: Counted("self_cpu_bytes", "memory of the host", "bytes"),
    Metric.device_memory: Counted("self_device_bytes", "memory of a device", "bytes"),
}


class Call(NamedTuple):
    """A call in its thread's tree: `caller` is another one's id, `value` is its own."""

    id: str
    caller: str | None
    name: str
    value: int


Threads = dict[tuple[int, str | None, str | None], list[Call]]


def collapsed(
    connection: duckdb.DuckDBPyConnection, run_id: str, counted: Counted, step: int | None
) -> Iterator[str]:
    """Lines `outermost;…;innermost value`, in ns or bytes, as torch's `export_stacks` writes them.

    Raises MissingError where there is nothing to write.
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
    """A file of speedscope, with a profile for each thread.

    Raises MissingError where there is nothing to write.
    """
    threads = _threads(connection, run_id, counted, step)
    names = sorted({call.name for calls in threads.values() for call in calls})
    frames = {name: place for place, name in enumerate(names)}
    return _speedscope(run_id, threads, frames, counted.unit)


def _speedscope(run_id: str, threads: Threads, frames: dict[str, int], unit: str) -> Iterator[str]:
    shared = json.dumps({"frames": [_frame(name) for name in frames]})
    yield f'{{"$schema": "{SCHEMA}", "name": {json.dumps(run_id)}, "exporter": "tracehouse", '
    yield f'"shared": {shared}, "profiles": ['
    for place, ((rank, pid, tid), calls) in enumerate(threads.items()):
        events, end = _events(calls, frames)
        profile = {
            "type": "evented",
            "name": f"rank {rank}, "
            + ("without a launch" if pid is None else f"process {pid}, thread {tid}"),
            "unit": unit,
            "startValue": 0,
            "endValue": end,
            "events": events,
        }
        yield (", " if place else "") + json.dumps(profile)
    yield "]}\n"


def _frame(name: str) -> dict[str, Any]:
    if found := FRAME.fullmatch(name):
        return {"name": found["name"], "file": found["file"], "line": int(found["line"])}
    return {"name": name}


def _events(calls: list[Call], frames: dict[str, int]) -> tuple[list[dict[str, Any]], int]:
    """When each call begins and ends, one after the other, largest first; and the end of all."""
    inside: dict[str | None, list[Call]] = {}
    known = {call.id for call in calls}
    for call in calls:
        inside.setdefault(call.caller if call.caller in known else None, []).append(call)
    whole = dict.fromkeys(known, 0)
    order = list(inside.get(None, []))
    for call in order:  # callers before what they call; the list grows meanwhile
        order += inside.get(call.id, [])
    for call in reversed(order):
        whole[call.id] += max(call.value, 0)
        if call.caller in whole:
            whole[call.caller] += whole[call.id]
    events: list[dict[str, Any]] = []
    at = 0
    waiting: list[tuple[Call, bool]] = [(call, True) for call in inside.get(None, [])]
    waiting.sort(key=lambda each: whole[each[0].id])
    while waiting:
        call, opens = waiting.pop()
        if not opens:
            at += max(call.value, 0)
        elif not whole[call.id]:
            continue
        events.append({"type": "O" if opens else "C", "frame": frames[call.name], "at": at})
        if opens:
            waiting.append((call, False))
            called = sorted(inside.get(call.id, []), key=lambda each: (whole[each.id], each.name))
            waiting += [(each, True) for each in called]
    return events, at


def _threads(
    connection: duckdb.DuckDBPyConnection, run_id: str, counted: Counted, step: int | None
) -> Threads:
    """The calls of each thread, with what they took in the step; those around it take nothing."""
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
        raise MissingError(f"{run_id}: there is no {counted.what}{where}")
    return threads

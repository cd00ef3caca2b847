"""Chrome traces of a part of a run, or of several ranks or runs on one time axis."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import duckdb
import numpy as np

from ingest import sql
from ingest.errors import MissingError

EVER = 1 << 62  # ns: later than any event, and earlier if negative
ROWS = 20_000  # of a batch
OWN_PID = 9_999_999  # of the tracks that no profiler recorded; Linux counts processes to 4,194,304
PER_PLACE = 10_000_000  # as in the macro `chrome_pid`
SORT_PER_PLACE = 1_000_000_000  # as in `chrome_names`
FLOWS_PER_PLACE = 1 << 40
QUERIES = ("chrome_names", "chrome_tracks", "chrome_counters", "chrome_events", "chrome_others")
OWN_KEYS = {"schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"}


@dataclass(frozen=True)
class Stretch:
    """A stretch of time of a rank, Unix ns.

    `anchor_ns` is the moment that stands below that of another run in the same file.
    """

    run_id: str
    rank: int
    since_ns: int = -EVER
    until_ns: int = EVER
    anchor_ns: int | None = None


@dataclass(frozen=True)
class ChromeTrace:
    """A chrome trace: its text in pieces, UTF-8 JSON, and its times.

    `base_ns` is the Unix time of its zero, ns, for the first run in it. `shown_ns` is the stretch
    that was asked for, from that zero on: events that reach beyond it are in the trace as a whole.
    It is None where that is not known.
    """

    base_ns: int
    shown_ns: tuple[int, int] | None
    text: Iterator[bytes]


class _Span(NamedTuple):
    """From when to when the events of a stretch last, Unix ns."""

    start_ns: int
    end_ns: int


def stretches(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    ranks: Sequence[int] = (),
    step: int | None = None,
    since_ns: int | None = None,
    until_ns: int | None = None,
) -> list[Stretch]:
    """A stretch for each of the ranks, or for all: a step with all that it launched, or a time.

    Times are Unix ns. Raises MissingError where the run has no trace of a rank, or no such step.
    """
    found = _ranks(connection, run_id)
    if not found:
        raise MissingError(f"{run_id}: no trace was recorded")
    for rank in ranks:
        if rank not in found:
            known = ", ".join(map(str, found))
            raise MissingError(f"{run_id}: no trace of rank {rank}; there are traces of {known}")
    chosen = [rank for rank in found if not ranks or rank in ranks]
    if step is None:
        since = -EVER if since_ns is None else since_ns
        until = EVER if until_ns is None else until_ns
        return [Stretch(run_id, rank, since, until, since_ns) for rank in chosen]
    rows = connection.execute(
        "SELECT rank, min(start_ns), max(greatest(work_end_ns, start_ns + dur_ns)) "
        "FROM step_metrics WHERE run_id = $1 AND step = $2 GROUP BY rank",
        [run_id, step],
    ).fetchall()
    steps = {rank: (start, end) for rank, start, end in rows if rank in chosen}
    if not steps:
        raise MissingError(f"{run_id}: there is no step {step}; {_known_steps(connection, run_id)}")
    anchor = min(start for start, _ in steps.values())
    return [
        Stretch(run_id, rank, start, end, anchor) for rank, (start, end) in sorted(steps.items())
    ]


def first_event(connection: duckdb.DuckDBPyConnection, run_id: str) -> int | None:
    """When the first event of a run began, Unix ns; None where it has no trace."""
    [(first,)] = connection.execute(
        "SELECT min(start_ns) FROM events WHERE run_id = $1", [run_id]
    ).fetchall()
    return None if first is None else int(first)


def chrome_trace(
    connection: duckdb.DuckDBPyConnection, parts: Sequence[Stretch], shortest_ns: int = 0
) -> ChromeTrace:
    """A chrome trace of some stretches, without events below `shortest_ns`.

    The ranks of a run are on one clock; the anchors of several runs are at the same time. The text
    is read from the store while it is consumed. Raises MissingError where there is no event.
    """
    spans = {part: _span(connection, part, shortest_ns) for part in parts}
    found = {part: span for part, span in spans.items() if span is not None}
    if not found:
        raise MissingError(f"{parts[0].run_id}: no event was recorded in this stretch of time")
    origins = _origins(found)
    base_ns = origins[next(iter(found)).run_id]
    text = chain(
        [_head(connection, list(found), base_ns)],
        chain.from_iterable(
            _of_stretch(
                connection,
                _parameters(part, shortest_ns)
                | {
                    "origin_ns": origins[part.run_id],
                    "place": None if label is None else place,
                    "label": label,
                    "pid": _own_pid(place),
                    "flows": place * FLOWS_PER_PLACE,
                },
            )
            for place, (part, label) in enumerate(zip(found, _labels(list(found)), strict=True))
        ),
        [b"\n]}\n"],
    )
    return ChromeTrace(base_ns, _shown(found, origins), text)


def _shown(spans: dict[Stretch, _Span], origins: dict[str, int]) -> tuple[int, int]:
    """From the first of the stretches' starts to the last of their ends, where events are."""
    shown = [
        (max(part.since_ns, span.start_ns), min(part.until_ns, span.end_ns), origins[part.run_id])
        for part, span in spans.items()
    ]
    return (
        min(since - origin for since, _, origin in shown),
        max(until - origin for _, until, origin in shown),
    )


def _ranks(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT rank FROM sources WHERE run_id = $1 AND complete_events > 0 ORDER BY rank",
        [run_id],
    ).fetchall()
    return [rank for (rank,) in rows]


def _known_steps(connection: duckdb.DuckDBPyConnection, run_id: str) -> str:
    [(first, last)] = connection.execute(
        "SELECT min(step), max(step) FROM steps WHERE run_id = $1", [run_id]
    ).fetchall()
    return "it has no steps" if first is None else f"its steps are {first} to {last}"


def _span(connection: duckdb.DuckDBPyConnection, part: Stretch, shortest_ns: int) -> _Span | None:
    parameters = _parameters(part, shortest_ns)
    [row] = connection.execute(sql.query("chrome_span"), parameters).fetchall()
    return None if row[0] is None else _Span(*row)


def _origins(spans: dict[Stretch, _Span]) -> dict[str, int]:
    """The Unix ns from which the times of each run count in the file, so that none is below 0."""
    anchors: dict[str, int] = {}
    for part, span in spans.items():
        anchor = span.start_ns if part.anchor_ns is None else part.anchor_ns
        anchors[part.run_id] = min(anchor, anchors.get(part.run_id, anchor))
    lead = max(anchors[part.run_id] - span.start_ns for part, span in spans.items())
    return {run_id: anchor - lead for run_id, anchor in anchors.items()}


def _head(connection: duckdb.DuckDBPyConnection, parts: Sequence[Stretch], base_ns: int) -> bytes:
    """The beginning of the file. A file of one recorded one has its metadata."""
    head: dict[str, Any] = {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base_ns,
    }
    recorded = connection.execute(
        "SELECT metadata FROM sources WHERE run_id = $1 AND rank = $2 AND complete_events > 0",
        [parts[0].run_id, parts[0].rank],
    ).fetchall()
    if len(parts) == len(recorded) == 1 and recorded[0][0]:
        metadata = json.loads(recorded[0][0])
        head |= {key: value for key, value in metadata.items() if key not in OWN_KEYS}
    if len(parts) == 1:
        head.setdefault("distributedInfo", {"rank": parts[0].rank})
    own = {"ph": "M", "cat": "tracehouse", "tid": 0}
    names = [
        own | {"pid": _own_pid(place), "name": name, "args": args}
        for place, label in enumerate(_labels(parts))
        for name, args in (
            ("process_name", {"name": ": ".join(filter(None, [label, "steps and idle time"]))}),
            ("process_sort_index", {"sort_index": place * SORT_PER_PLACE - 1}),
        )
    ]
    events = ",\n".join(map(json.dumps, names))
    return f'{json.dumps(head)[:-1]}, "traceEvents": [\n{events}'.encode()


def _labels(parts: Sequence[Stretch]) -> list[str | None]:
    """What tells the stretches of one file apart: the run, the rank, or both."""
    if len(parts) == 1:
        return [None]
    by_run = len({part.run_id for part in parts}) > 1
    by_rank = len({part.rank for part in parts}) > 1
    return [", ".join([part.run_id] * by_run + [f"rank {part.rank}"] * by_rank) for part in parts]


def _own_pid(place: int) -> int:
    return place * PER_PLACE + OWN_PID


def _of_stretch(
    connection: duckdb.DuckDBPyConnection, parameters: dict[str, Any]
) -> Iterator[bytes]:
    """The events of a stretch, each after a comma."""
    for query in QUERIES:
        yield from _texts(connection, sql.query(query), parameters)


def _parameters(part: Stretch, shortest_ns: int) -> dict[str, Any]:
    return {
        "run": part.run_id,
        "rank": part.rank,
        "since_ns": part.since_ns,
        "until_ns": part.until_ns,
        "shortest_ns": shortest_ns,
    }


def _texts(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, Any]
) -> Iterator[bytes]:
    """The texts that a query returns in its only column, without a copy of each."""
    used = {key: parameters[key] for key in set(re.findall(r"\$([a-z_]+)", query))}
    with connection.cursor() as cursor:
        for batch in cursor.sql(query, params=used).to_arrow_reader(ROWS):
            column = batch.column(0)
            if len(column):
                _, offsets, text = column.buffers()
                ends = np.frombuffer(offsets, np.int32)
                first, last = ends[column.offset], ends[column.offset + len(column)]
                yield text[int(first) : int(last)].to_pybytes()

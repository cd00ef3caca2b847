"""Chrome traces of a part of a run, or of several ranks or runs on one time axis."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import duckdb
import numpy as np

from ingest import sql
from ingest.errors import MissingError

EVER = 1 << 62  # ns: beyond any event, in both directions
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

    In a file of two sides, such as two runs, their anchors stand at the same time.
    """

    run_id: str
    rank: int
    since_ns: int = -EVER
    until_ns: int = EVER
    anchor_ns: int | None = None
    side: int = 0
    step: int | None = None

    @property
    def is_whole(self) -> bool:
        return (self.since_ns, self.until_ns) == (-EVER, EVER)


@dataclass(frozen=True)
class ChromeTrace:
    """A chrome trace: its text in pieces, UTF-8 JSON, and its times.

    `base_ns` is the Unix time of the trace's zero, ns, by the clock of its first side. `shown_ns`
    is the requested stretch, counted from that zero; None if unknown. Events that reach beyond it
    are whole.
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
    """A stretch for each of the ranks, or for all: a step with all its work, or the given times.

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
    if step is not None:
        return _of_step(connection, run_id, chosen, step, is_asked=bool(ranks))
    since = -EVER if since_ns is None else since_ns
    until = EVER if until_ns is None else until_ns
    return [Stretch(run_id, rank, since, until, since_ns) for rank in chosen]


def steps_of_two(
    connection: duckdb.DuckDBPyConnection,
    runs: tuple[str, str],
    ranks: Sequence[int],
    step: int,
    other_step: int | None,
) -> list[Stretch]:
    """A step of each of two runs, whose starts are at the same time; the same step without another.

    The second run takes part with all its ranks if it has none of `ranks`. Raises MissingError as
    `stretches` does.
    """
    run_id, other = runs
    other_ranks = [rank for rank in _ranks(connection, other) if rank in ranks]
    second = stretches(connection, other, other_ranks, step if other_step is None else other_step)
    return [
        *stretches(connection, run_id, ranks, step),
        *(replace(stretch, side=1) for stretch in second),
    ]


def _of_step(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    ranks: Sequence[int],
    step: int,
    is_asked: bool,
) -> list[Stretch]:
    """The step of each rank that has it, or that was asked for."""
    rows = connection.execute(
        "SELECT rank, count(DISTINCT source_id), min(start_ns), max(work_end_ns) "
        "FROM step_metrics WHERE run_id = $1 AND step = $2 GROUP BY rank ORDER BY rank",
        [run_id, step],
    ).fetchall()
    steps = {rank: times for rank, *times in rows if rank in ranks}
    for rank in ranks:
        if rank not in steps and (is_asked or not steps):
            known = _known_steps(connection, run_id, rank)
            raise MissingError(f"{run_id}: rank {rank} has no step {step}; {known}")
    for rank, (files, *_) in steps.items():
        if files > 1:
            raise MissingError(
                f"{run_id}: {files} files of rank {rank} have a step {step}: give a time instead"
            )
    anchor = min(start for _, start, _ in steps.values())
    return [
        Stretch(run_id, rank, start, end, anchor, step=step)
        for rank, (_, start, end) in steps.items()
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

    The ranks of a side are on one clock; the anchors of two sides are at the same time. The text is
    read from the store while it is consumed: if the run is removed meanwhile, it ends with an
    error. Raises MissingError where there is no event.
    """
    spans = {part: _span(connection, part, shortest_ns) for part in parts}
    found = {part: span for part, span in spans.items() if span is not None}
    if not found:
        raise MissingError(f"{parts[0].run_id}: no event was recorded in this stretch of time")
    origins = _origins(found)
    base_ns = origins[next(iter(found)).side]
    text = chain(
        [_head(connection, list(found), base_ns)],
        chain.from_iterable(
            _of_stretch(
                connection,
                _parameters(part, shortest_ns)
                | {
                    "origin_ns": origins[part.side],
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


def _shown(spans: dict[Stretch, _Span], origins: dict[int, int]) -> tuple[int, int]:
    """From the first of the stretches' starts to the last of their ends, where events are."""
    shown = [
        (max(part.since_ns, span.start_ns), min(part.until_ns, span.end_ns), origins[part.side])
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


def _known_steps(connection: duckdb.DuckDBPyConnection, run_id: str, rank: int) -> str:
    [(first, last)] = connection.execute(
        "SELECT min(step), max(step) FROM steps WHERE run_id = $1 AND rank = $2", [run_id, rank]
    ).fetchall()
    return "it has no steps" if first is None else f"its steps are {first} to {last}"


def _span(connection: duckdb.DuckDBPyConnection, part: Stretch, shortest_ns: int) -> _Span | None:
    query = sql.query("chrome_span")
    parameters = _used(_parameters(part, shortest_ns), query)
    [row] = connection.execute(query, parameters).fetchall()
    return None if row[0] is None else _Span(*row)


def _origins(spans: dict[Stretch, _Span]) -> dict[int, int]:
    """The Unix ns from which the times of each side count, so that none is below 0."""
    anchors: dict[int, int] = {}
    for part, span in spans.items():
        anchor = span.start_ns if part.anchor_ns is None else part.anchor_ns
        anchors[part.side] = min(anchor, anchors.get(part.side, anchor))
    lead = max(anchors[part.side] - span.start_ns for part, span in spans.items())
    return {side: anchor - lead for side, anchor in anchors.items()}


def _head(connection: duckdb.DuckDBPyConnection, parts: Sequence[Stretch], base_ns: int) -> bytes:
    """The head of the file. A file of one source keeps its metadata."""
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
    """The names that tell the stretches of a file apart: the run, the rank and the step."""
    if len(parts) == 1:
        return [None]
    by_run = len({part.run_id for part in parts}) > 1
    by_rank = len({part.rank for part in parts}) > 1
    by_step = len({part.side for part in parts}) > 1 and not by_run
    return [
        ", ".join(
            [part.run_id] * by_run
            + [f"rank {part.rank}"] * by_rank
            + [f"step {part.step}"] * by_step
        )
        for part in parts
    ]


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
        "is_whole": part.is_whole and not shortest_ns,
        "ever_ns": EVER,
    }


def _texts(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, Any]
) -> Iterator[bytes]:
    """The query's one text column as bytes, batch by batch."""
    with connection.cursor() as cursor:
        relation = cursor.sql(query, params=_used(parameters, query))
        for batch in relation.to_arrow_reader(ROWS):
            column = batch.column(0)
            if len(column):
                _, offsets, text = column.buffers()
                ends = np.frombuffer(offsets, np.int32)
                first, last = ends[column.offset], ends[column.offset + len(column)]
                yield text[int(first) : int(last)].to_pybytes()


def _used(parameters: dict[str, Any], query: str) -> dict[str, Any]:
    """The parameters that the query has: DuckDB refuses others."""
    return {key: parameters[key] for key in set(re.findall(r"\$([a-z_]+)", query))}

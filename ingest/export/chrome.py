"""Chrome traces of a part of a run, or of several ranks or two runs on one time axis."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.errors import MissingError
from ingest.export.crossing import crossing, possible
from ingest.export.stretches import EVER, Interval
from ingest.formats import FORMATS
from ingest.formats.kineto.processes import OWN_PID, PIDS_PER_RANK
from ingest.json_values import plain
from ingest.store.connection import snapshot
from ingest.units import change, duration

BATCH_ROWS = 20_000
SORT_PER_INTERVAL = 1_000_000_000  # as in `chrome_names`
FLOWS_PER_INTERVAL = 1 << 40
MANY_SPANS = 100_000  # to try them all takes as long as to find those that may cross
QUERIES = (
    *("chrome_names", "chrome_tracks", "chrome_path", "chrome_counters", "chrome_events"),
    *("chrome_others", "chrome_crossing"),
)
OWN_KEYS = {"schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"}


@dataclass(frozen=True)
class ChromeTrace:
    """A chrome trace: its text, UTF-8 JSON in pieces, and its times.

    `base_ns` is the Unix time of the trace's zero, in ns, on the clock of its first side.
    `shown_ns` is the requested interval relative to that zero; None if unknown. Events that extend
    beyond the interval are not cut.
    """

    base_ns: int
    shown_ns: tuple[int, int] | None
    text: Iterator[bytes]


class _Span(NamedTuple):
    """The start of the first and the end of the last event of an interval, Unix ns."""

    start_ns: int
    end_ns: int


def chrome_trace(
    connection: duckdb.DuckDBPyConnection, parts: Sequence[Interval], shortest_ns: int = 0
) -> ChromeTrace:
    """Return a chrome trace of some intervals, without events shorter than `shortest_ns`.

    Of several ranks of a side, times are those on the reference clock; the names of processes say
    by how much a rank's times were moved. The anchors of two sides are drawn at the same time. The
    text is read from the store while it is consumed, even if the run is removed meanwhile. Raise
    MissingError if there are no events.
    """
    spans = {part: _span(connection, part, shortest_ns) for part in parts}
    found = {part: span for part, span in spans.items() if span is not None}
    if not found:
        raise MissingError(f"{parts[0].run_id}: there are no events in this time interval")
    origins = _origins(found)
    base_ns = origins[next(iter(found)).side]
    labels = _labels(list(found))
    sides = [
        _parameters(part, shortest_ns)
        | {
            "origin_ns": origins[part.side] + part.ahead_ns,
            "interval_number": None if label is None else index,
            "label": label,
            "other_sources": _other_sources(connection, part),
            "pid": _own_pid(index),
            "flows": index * FLOWS_PER_INTERVAL,
        }
        for index, (part, label) in enumerate(zip(found, labels, strict=True))
    ]
    text = _text(connection, _head(connection, list(found), base_ns), sides)
    return ChromeTrace(base_ns, _shown(found, origins), text)


def _text(
    connection: duckdb.DuckDBPyConnection, head: bytes, sides: list[dict[str, Any]]
) -> Iterator[bytes]:
    """Yield the file in pieces."""
    yield head
    with snapshot(connection) as cursor:
        for parameters in sides:
            yield from _of_interval(cursor, parameters)
    yield b"\n]}\n"


def _shown(spans: dict[Interval, _Span], origins: dict[int, int]) -> tuple[int, int]:
    """Return the first start and the last end of the intervals, cut to their events."""
    shown = [
        (
            max(part.since_ns, span.start_ns),
            min(part.until_ns, span.end_ns),
            origins[part.side] + part.ahead_ns,
        )
        for part, span in spans.items()
    ]
    return (
        min(since - origin for since, _, origin in shown),
        max(until - origin for _, until, origin in shown),
    )


def _span(connection: duckdb.DuckDBPyConnection, part: Interval, shortest_ns: int) -> _Span | None:
    query = sql.query("chrome_span")
    parameters = _used(_parameters(part, shortest_ns), query)
    [row] = connection.execute(query, parameters).fetchall()
    return None if row[0] is None else _Span(*row)


def _origins(spans: dict[Interval, _Span]) -> dict[int, int]:
    """Return the zero of each side's times, Unix ns, early enough that no time is negative."""
    starts = {part: span.start_ns - part.ahead_ns for part, span in spans.items()}
    anchors: dict[int, int] = {}
    for part, start_ns in starts.items():
        anchor = start_ns if part.anchor_ns is None else part.anchor_ns
        anchors[part.side] = min(anchor, anchors.get(part.side, anchor))
    lead = max(anchors[part.side] - start_ns for part, start_ns in starts.items())
    return {side: anchor - lead for side, anchor in anchors.items()}


def _head(connection: duckdb.DuckDBPyConnection, parts: Sequence[Interval], base_ns: int) -> bytes:
    """Return the head of the file. It includes the metadata that all sources share."""
    head: dict[str, Any] = {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base_ns,
    }
    recorded = [
        plain(json.loads(metadata))
        for part in parts
        for (metadata,) in connection.execute(
            "SELECT metadata FROM sources "
            "WHERE run_id = $1 AND rank = $2 AND complete_events > 0 AND metadata IS NOT NULL",
            [part.run_id, part.rank],
        ).fetchall()
    ]
    head |= {key: value for key, value in _common(recorded).items() if key not in OWN_KEYS}
    if len(parts) == 1:
        head.setdefault("distributedInfo", {"rank": parts[0].rank})
    own = {"ph": "M", "cat": "tracehouse", "tid": 0}
    names = [
        own | {"pid": _own_pid(index), "name": name, "args": args}
        for index, label in enumerate(_labels(parts))
        for name, args in (
            (
                "process_name",
                {"name": ": ".join(filter(None, [label, "steps, idle time and critical path"]))},
            ),
            ("process_sort_index", {"sort_index": index * SORT_PER_INTERVAL - 1}),
        )
    ]
    # Perfetto shows an escaped `µ` as it is written.
    events = ",\n".join(json.dumps(each, ensure_ascii=False) for each in names)
    return f'{json.dumps(head)[:-1]}, "traceEvents": [\n{events}'.encode("utf-8", "replace")


def _common(recorded: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the items that all of the metadata have, also those of `distributedInfo`."""
    first, *others = recorded or [{}]
    common = {
        key: value
        for key, value in first.items()
        if all(key in other and other[key] == value for other in others)
    }
    distributed = [each.get("distributedInfo") for each in recorded]
    if others and all(isinstance(each, dict) for each in distributed):
        common["distributedInfo"] = _common([each for each in distributed if each])
    return common


def _other_sources(connection: duckdb.DuckDBPyConnection, part: Interval) -> list[int]:
    """Return the ids of the files whose events do not have the arguments of a Chrome trace."""
    traces = [format_.kind for format_ in FORMATS if format_.is_chrome_trace]
    rows = connection.execute(
        "SELECT source_id FROM sources WHERE run_id = $1 AND rank = $2 AND complete_events > 0 "
        "AND NOT list_contains($3, kind)",
        [part.run_id, part.rank, traces],
    ).fetchall()
    return [source_id for (source_id,) in rows]


def _labels(parts: Sequence[Interval]) -> list[str | None]:
    """Return names that distinguish the intervals of a file: by run, rank or step.

    A single interval needs no name and gets None.
    """
    if len(parts) == 1:
        return [None]
    by_run = len({part.run_id for part in parts}) > 1
    by_rank = len({part.rank for part in parts}) > 1
    by_step = len({part.side for part in parts}) > 1 and not by_run
    return [
        ", ".join(
            [part.run_id] * by_run
            + [f"rank {part.rank}"] * by_rank
            + _moved(part)
            + [f"step {part.step}"] * by_step
        )
        for part in parts
    ]


def _moved(part: Interval) -> list[str]:
    """Return by how much the times of a rank were moved to the clock of its side, if at all."""
    if part.is_alone:
        return []
    if part.clock is None:
        return ["clock unknown"]
    ahead_ns, uncertainty_ns, drift_ppm = part.clock
    if not ahead_ns and not uncertainty_ns:
        return []
    about = "" if uncertainty_ns is None else f" ± {duration(uncertainty_ns)}"
    drift = "" if drift_ppm is None else f", drifts by {drift_ppm:.1f} µs a second"
    return [f"moved by {change(-ahead_ns, duration)}{about}{drift}"]


def _own_pid(index: int) -> int:
    return index * PIDS_PER_RANK + OWN_PID


def _of_interval(
    connection: duckdb.DuckDBPyConnection, parameters: dict[str, Any]
) -> Iterator[bytes]:
    """Yield the events of an interval, each after a comma."""
    lanes = _table(connection, "chrome_lanes", parameters)["lane"].to_pylist()
    parameters = parameters | {"lanes": lanes}
    spans = _table(connection, "chrome_spans", parameters)
    if len(spans) > MANY_SPANS:
        spans = possible(_table(connection, "chrome_cuts", parameters), spans)
    parameters |= crossing(spans)
    for query in QUERIES:
        yield from _texts(connection, sql.query(query), parameters)


def _parameters(part: Interval, shortest_ns: int) -> dict[str, Any]:
    return {
        "run": part.run_id,
        "rank": part.rank,
        "since_ns": part.since_ns,
        "until_ns": part.until_ns,
        "shortest_ns": shortest_ns,
        "is_whole": part.is_unbounded and not shortest_ns,
        "ever_ns": EVER,
    }


def _table(
    connection: duckdb.DuckDBPyConnection, name: str, parameters: dict[str, Any]
) -> pa.Table:
    """Return the result of a query by its name."""
    query = sql.query(name)
    return connection.sql(query, params=_used(parameters, query)).to_arrow_table()


def _texts(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, Any]
) -> Iterator[bytes]:
    """Yield the query's single text column as bytes, batch by batch."""
    relation = connection.sql(query, params=_used(parameters, query))
    for batch in relation.to_arrow_reader(BATCH_ROWS):
        column = batch.column(0)
        if len(column):
            _, offsets, text = column.buffers()
            ends = memoryview(offsets).cast("i")
            first, last = ends[column.offset], ends[column.offset + len(column)]
            yield text[first:last].to_pybytes()


def _used(parameters: dict[str, Any], query: str) -> dict[str, Any]:
    """Return the parameters that occur in the query, because DuckDB rejects any others."""
    return {key: parameters[key] for key in set(re.findall(r"\$([a-z_]+)", query))}

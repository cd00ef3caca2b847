"""Loading of traces into the scratch database, piece by piece."""

from contextlib import closing

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.errors import ProfileError
from ingest.formats.kineto.backslashes import are_literal
from ingest.formats.kineto.chunks import PIECE_SCHEMA
from ingest.formats.kineto.corrections import correct, set_aside_outliers
from ingest.formats.kineto.metadata import describe
from ingest.formats.kineto.open_frames import end_open_frames
from ingest.formats.kineto.parse import parse
from ingest.formats.kineto.processes import split
from ingest.formats.kineto.reader import KinetoTrace
from ingest.formats.kineto.repair import repair_events
from ingest.formats.source import Source
from ingest.formats.staging import Progress, Staging, until_failure
from ingest.units import counted


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read a trace into table `staged`, and fill in the attributes of `source`.

    Raise ProfileError if the file holds no trace, or is damaged and has no readable event. An
    intact trace may be empty: a profiler's schedule can end before its first step.
    """
    connection = staging.connection
    trace = KinetoTrace(source.path, progress)
    _parse(connection, source, trace)
    if trace.backslashes:
        with closing(trace.content()) as content:
            is_literal = are_literal(
                connection, source.source_id, content, trace.has_escaped_backslash
            )
        if is_literal:
            _forget(connection, source)
            trace = KinetoTrace(source.path, has_literal_backslashes=True)
            _parse(connection, source, trace)
    repair_events(connection, source, trace)
    contents = correct(connection, source)
    source.json_bytes = trace.json_bytes
    source.metadata = trace.metadata
    source.coded_warnings[:0] = trace.warnings
    if trace.truncated:
        source.status = "truncated"
    end_open_frames(connection, source, contents)
    parts = split(source, staging, contents)
    set_aside_outliers(connection, parts, contents)
    for part in parts:
        of_part = {"source_id": part.source_id}
        connection.execute(sql.query("fill_calls"), of_part)
        connection.execute(sql.query("fill_activities"), of_part)
        connection.execute(sql.query("fill_collectives"), of_part)
        if any(each.has_counters for each in contents):
            connection.execute(sql.query("fill_counters"), of_part)
    _count(connection, parts)
    unread = sum(source.dropped.values())
    is_unreadable = len(parts) == 1 and source.events == unread and (unread or trace.truncated)
    reasons = "; ".join(source.warnings)
    if is_unreadable:
        source.coded_warnings.clear()
    for part in parts:
        describe(connection, part)
    if is_unreadable:
        raise ProfileError(f"{source.path}: no event can be read: {reasons}")


def _parse(connection: duckdb.DuckDBPyConnection, source: Source, trace: KinetoTrace) -> None:
    failures: list[ProfileError] = []
    batches = until_failure(trace.batches(), source.path, failures)
    pieces = pa.RecordBatchReader.from_batches(PIECE_SCHEMA, batches)
    parse(connection, source.source_id, pieces, trace.has_literal_backslashes)
    if failures:
        _forget(connection, source)
        raise failures[0]


def _forget(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    connection.execute("DELETE FROM staged WHERE source_id = $1", [source.source_id])


def _count(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    """Count the events: each is a row of `events` or of `other_events`, or counted as dropped."""
    counts: dict[int, dict[str, int]] = {source.source_id: {} for source in sources}
    for source_id, reason, events in connection.execute(
        """
        SELECT
            source_id,
            CASE
                WHEN side IS NOT NULL THEN 'complete'
                WHEN phase <> 'X' THEN 'phase ' || phase
                WHEN name IS NULL THEN 'complete event without a name'
                WHEN relative_ns IS NULL THEN 'complete event without a valid ts'
                WHEN dur_ns IS NULL THEN 'complete event without a valid dur'
                ELSE 'complete event with a negative dur'
            END AS reason,
            count(*)
        FROM staged
        WHERE source_id IN (SELECT unnest($1))
        GROUP BY ALL
        ORDER BY ALL
        """,
        [list(counts)],
    ).fetchall():
        counts[source_id][reason] = events
    for source in sources:
        source.other = counts[source.source_id]
        source.events = sum(source.other.values()) + sum(source.dropped.values())
        source.complete = source.other.pop("complete", 0)
        for reason, events in source.other.items():
            if reason.startswith("complete event"):
                source.warn(
                    "events_not_complete",
                    f"{counted(events, 'event')} kept in other_events only: {reason}",
                )

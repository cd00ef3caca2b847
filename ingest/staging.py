"""Reading the traces of a run into the scratch database, piece by piece."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.formats.kineto import EVENT_SCHEMA, KinetoTrace

LONGEST_REPAIR = 256  # pieces
CONTROL = re.compile(r"[\x00-\x1f]")


@dataclass
class Source:
    """An input file of a run, as table `sources` will tell it."""

    source_id: int
    path: Path
    kind: str
    bytes: int
    sha256: str
    rank: int | None = None
    status: str = "ok"
    json_bytes: int | None = None
    events: int | None = None
    complete: int | None = None
    not_stored: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None

    def summary(self) -> str:
        """One line for people: events, MB, seconds, rows, warnings."""
        if self.kind != "kineto":
            return ": ".join([self.path.name, self.status, *self.warnings])
        megabytes = (self.json_bytes or 0) / 1e6
        said = "; ".join(self.warnings)
        return (
            f"{self.path.name}: rank {self.rank}, {self.events or 0:,} events, "
            f"{megabytes:.1f} MB of JSON, read in {self.seconds or 0:.1f} s, "
            f"{self.complete or 0:,} rows, {self.status}" + (f" ({said})" if said else "")
        )

    def as_dict(self) -> dict[str, Any]:
        """What table `sources` says of the file, without its metadata."""
        said = {**vars(self), "path": str(self.path)}
        del said["metadata"]
        return said


def stage_trace(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Reads a Kineto trace into table `staged` and fills in what `source` says of it.

    Raises ProfileError where the file holds no trace.
    """
    began = time.perf_counter()
    trace = KinetoTrace(source.path, progress)
    batches = trace.batches()
    first = list(islice(batches, 1))  # what is wrong with a file as a whole shows here, by name
    pieces = pa.RecordBatchReader.from_batches(EVENT_SCHEMA, chain(first, batches))
    _parse(connection, source.source_id, pieces)
    _repair(connection, source, trace)
    source.json_bytes = trace.json_bytes
    source.metadata = trace.metadata
    source.warnings = trace.warnings + source.warnings
    if trace.lost_bytes is not None:
        source.status = "truncated"
    _count(connection, source)
    source.seconds = round(time.perf_counter() - began, 3)


def _parse(
    connection: duckdb.DuckDBPyConnection, source_id: int, pieces: pa.RecordBatchReader
) -> None:
    connection.register("pieces", pieces)
    connection.execute(sql.script("load/parse"), {"source_id": source_id})
    connection.unregister("pieces")


def _repair(connection: duckdb.DuckDBPyConnection, source: Source, trace: KinetoTrace) -> None:
    """Reads again, one by one, the pieces that DuckDB could not take for events.

    A piece may be part of an event that was cut inside, or hold bytes that JSON does not allow:
    what can be read of it replaces it.
    """
    rejected = connection.execute(
        "SELECT ordinal, byte_offset, rejected_end FROM staged "
        "WHERE source_id = $1 AND rejected_end IS NOT NULL ORDER BY ordinal",
        [source.source_id],
    ).fetchall()
    if not rejected:
        return
    spans = [(offset, _neighbours_end(rejected, i)) for i, (_, offset, _) in enumerate(rejected)]
    events: list[dict[str, Any]] = []
    lost: list[int] = []
    read_to = 0
    for (ordinal, offset, _), content in zip(rejected, trace.slices(spans), strict=True):
        if offset < read_to:
            continue
        if text := _first_event(content):
            read_to = offset + len(text.encode("utf-8", "surrogateescape"))
            event = CONTROL.sub(" ", text.encode("utf-8", "replace").decode())
            events.append({"ordinal": ordinal, "offset": offset, "event": event})
        else:
            lost.append(offset)
    connection.execute(
        "DELETE FROM staged WHERE source_id = $1 AND rejected_end IS NOT NULL "
        "AND NOT list_contains($2, byte_offset)",
        [source.source_id, lost],
    )
    if events:
        table = pa.Table.from_pylist(events).cast(EVENT_SCHEMA)
        _parse(connection, source.source_id, table.to_reader())
    if lost:
        source.warnings.append(
            f"{_events(len(lost))} not valid JSON and left out, the first at byte {lost[0]}"
        )


def _neighbours_end(rejected: list[tuple[int, int, int]], place: int) -> int:
    """Where the last of the rejected pieces ends that follow this one without a gap."""
    last = place
    while (
        last + 1 < len(rejected)
        and last - place < LONGEST_REPAIR
        and rejected[last + 1][0] == rejected[last][0] + 1
    ):
        last += 1
    return rejected[last][2]


def _first_event(content: bytes) -> str | None:
    """The text of the event that `content` begins with, or None."""
    text = content.decode("utf-8", "surrogateescape")
    try:
        event, end = json.JSONDecoder(strict=False).raw_decode(text)
    except ValueError:
        return None
    return text[:end] if isinstance(event, dict) and "ph" in event else None


def _events(count: int) -> str:
    return "1 event" if count == 1 else f"{count:,} events"


def _count(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Every event of the file is a row of `events` or counted here with its reason."""
    reasons = connection.execute(
        """
        SELECT
            CASE
                WHEN rejected_end IS NOT NULL THEN 'not valid JSON'
                WHEN phase <> 'X' THEN 'phase ' || phase
                WHEN name IS NULL THEN 'complete event without name'
                WHEN relative_ns IS NULL THEN 'complete event without ts'
                WHEN dur_ns IS NULL THEN 'complete event without dur'
                WHEN dur_ns < 0 THEN 'complete event with negative dur'
                ELSE 'complete'
            END AS reason,
            count(*)
        FROM staged
        WHERE source_id = $1
        GROUP BY reason
        ORDER BY reason
        """,
        [source.source_id],
    ).fetchall()
    counts = dict(reasons)
    source.events = sum(counts.values())
    source.complete = counts.pop("complete", 0)
    source.not_stored = counts
    source.warnings += [
        f"{_events(count)} left out: {reason}"
        for reason, count in counts.items()
        if reason.startswith("complete event")
    ]

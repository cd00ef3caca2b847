"""Reading the traces of a run into the scratch database, piece by piece."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.formats.kineto import EVENT_SCHEMA, KinetoTrace

LONGEST_REPAIR = 256


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


def stage_trace(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Reads a Kineto trace into table `staged` and fills in what `source` says of it.

    Raises ProfileError where the file holds no trace.
    """
    trace = KinetoTrace(source.path, progress)
    pieces = pa.RecordBatchReader.from_batches(EVENT_SCHEMA, trace.batches())
    _parse(connection, source.source_id, pieces)
    _repair(connection, source)
    source.json_bytes = trace.json_bytes
    source.metadata = trace.metadata
    source.warnings = trace.warnings + source.warnings
    if trace.lost_bytes is not None:
        source.status = "truncated"
    _count(connection, source)


def _parse(
    connection: duckdb.DuckDBPyConnection, source_id: int, pieces: pa.RecordBatchReader
) -> None:
    connection.register("pieces", pieces)
    try:
        connection.execute(sql.script("load/parse"), {"source_id": source_id})
    except duckdb.InvalidInputException as error:
        # DuckDB wraps what the reader raised; the cause is what the user needs.
        raise error.__cause__ if isinstance(error.__cause__, Exception) else error from None
    finally:
        connection.unregister("pieces")


def _repair(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Joins neighbouring pieces that are no event by themselves where together they are one."""
    rejected = connection.execute(
        "SELECT ordinal, byte_offset, rejected FROM staged "
        "WHERE source_id = $1 AND rejected IS NOT NULL ORDER BY ordinal",
        [source.source_id],
    ).fetchall()
    repaired: list[dict[str, Any]] = []
    consumed: list[int] = []
    for start in range(len(rejected)):
        ordinal, offset, text = rejected[start]
        if consumed and ordinal <= consumed[-1]:
            continue
        for step in range(1, LONGEST_REPAIR):
            if start + step >= len(rejected) or rejected[start + step][0] != ordinal + step:
                break
            text += "," + rejected[start + step][2]
            if _is_event(text):
                repaired.append({"ordinal": ordinal, "offset": offset, "event": text})
                consumed += range(ordinal, ordinal + step + 1)
                break
    if repaired:
        connection.execute(
            "DELETE FROM staged WHERE source_id = $1 AND list_contains($2, ordinal)",
            [source.source_id, consumed],
        )
        table = pa.Table.from_pylist(repaired).cast(EVENT_SCHEMA)
        _parse(connection, source.source_id, table.to_reader())
    lost = [row for row in rejected if row[0] not in set(consumed)]
    if lost:
        source.warnings.append(
            f"{len(lost)} events are not valid JSON, the first at byte {lost[0][1]}"
        )


def _is_event(text: str) -> bool:
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except ValueError:
        return False


def _count(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Every event of the file is a row of `events` or counted here with its reason."""
    reasons = connection.execute(
        """
        SELECT
            CASE
                WHEN rejected IS NOT NULL THEN 'not valid JSON'
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
        f"{count} events left out: {reason}"
        for reason, count in counts.items()
        if reason.startswith("complete event")
    ]

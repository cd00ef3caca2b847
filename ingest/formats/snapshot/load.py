"""Reading memory snapshots into the scratch database."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from ingest import sql
from ingest.errors import ProfileError
from ingest.formats.snapshot.reader import MemorySnapshot
from ingest.formats.snapshot.schemas import EVENT_SCHEMA
from ingest.formats.snapshot.stacks import Stacks
from ingest.formats.source import Source
from ingest.formats.staging import Progress, Staging, until_failure
from ingest.redaction import IN_NAME, redact, redact_text
from ingest.units import counted

TEXTS = {  # may hold secrets
    "staged_actions": ("compile_context", "user_metadata", "category", "other"),
    "staged_marks": ("name",),
}
LABELLED = "* EXCLUDE (device), 'cuda:' || device AS device_label"
COLUMNS = {
    "segments": LABELLED,
    "blocks": LABELLED,
    "marks": "'cuda:' || device AS device_label, name, stage, row_number() OVER () AS ordinal, "
    "CASE WHEN time_us BETWEEN 0 AND 4e15 THEN time_us * 1000 END AS time_ns",  # up to 2096
    "settings": "*",
}
MOST_BYTES = 1 << 50
MOST_ADDRESS = (1 << 64) - (1 << 51)  # with such a size, its end is a number still


def load_snapshot(source: Source, staging: Staging, progress: Progress) -> None:
    """Reads a memory snapshot into the staged tables, and fills in what `source` says of it.

    Snapshots of a run share their stacks, each distinct one of which has one number. Secrets in
    what the program noted are redacted, unless metadata is to be kept. Raises ProfileError where
    the file holds no snapshot.
    """
    connection, stacks = staging.connection, staging.shared(Stacks)
    snapshot = MemorySnapshot(source.path, stacks, progress)
    failures: list[ProfileError] = []
    batches = until_failure(_checked(snapshot), source.path, failures)
    connection.register("snapshot_events", pa.RecordBatchReader.from_batches(EVENT_SCHEMA, batches))
    connection.execute(sql.query("snapshot_events"), {"source_id": source.source_id})
    connection.unregister("snapshot_events")
    if failures:
        connection.execute("DELETE FROM staged_actions WHERE source_id = $1", [source.source_id])
        raise failures[0]
    source.json_bytes = snapshot.pickle_bytes
    source.coded_warnings[:0] = snapshot.warnings
    for name, rows in (
        ("segments", snapshot.segments),
        ("blocks", snapshot.blocks),
        ("marks", snapshot.annotations),
        ("settings", snapshot.settings),
    ):
        columns = f"{COLUMNS[name]}, {source.source_id} AS source_id"
        staging.insert(f"staged_{name}", rows, columns)
    new_frames, new_stacks = stacks.new_tables()
    staging.insert("staged_frames", new_frames)
    staging.insert("staged_stacks", new_stacks)
    if not staging.keep_metadata:
        _redact(connection, source)
    (source.events,) = connection.execute(
        "SELECT count(*) FROM staged_actions WHERE source_id = $1", [source.source_id]
    ).fetchall()[0]


def _check_sizes(rows: pa.Table, path: Path, what: str) -> None:
    """Raises ProfileError for sizes and addresses that no memory has: their sums fit no number."""
    sizes = rows["bytes"].to_numpy(zero_copy_only=False)
    ends = rows["address"].to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero((sizes < 0) | (sizes > MOST_BYTES) | (ends > float(MOST_ADDRESS)))
    if len(wrong):
        row = rows.slice(wrong[0], 1).to_pylist()[0]
        place = row.get("ordinal", int(wrong[0]))
        raise ProfileError(
            f"{path}: {what} {place:,} of device {row['device']} is of {row['bytes'] or 0:,} bytes "
            f"at address {row['address']}: no memory is"
        )


def _checked(snapshot: MemorySnapshot) -> Iterator[pa.RecordBatch]:
    """The actions; whatever in the snapshot is of no possible size is told before they end."""
    for batch in snapshot.events():
        _check_sizes(batch, snapshot.path, "action")
        yield batch
    _check_sizes(snapshot.segments, snapshot.path, "segment")
    _check_sizes(snapshot.blocks, snapshot.path, "block")


def _redact(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Takes secrets out of a source's texts, of which each distinct one is looked at once."""
    changes = 0
    for table, columns in TEXTS.items():
        for column in columns:
            texts = connection.execute(
                f"SELECT DISTINCT {column}::VARCHAR FROM {table} "
                f"WHERE source_id = $1 AND regexp_matches({column}::VARCHAR, $2)",
                [source.source_id, IN_NAME],
            ).fetchall()
            redacted = [(text, new) for (text,) in texts if (new := redact_text(text)) != text]
            changes += _replace(connection, source, table, column, column, redacted)
    settings = connection.execute(
        "SELECT setting, value FROM staged_settings WHERE source_id = $1", [source.source_id]
    ).fetchall()
    redacted = [(name, new) for name, value in settings if (new := redact(value, name)) != value]
    changes += _replace(connection, source, "staged_settings", "setting", "value", redacted)
    if changes:
        source.warn(
            "secrets_redacted",
            f"{counted(changes, 'text')} held what looks like a secret: redacted",
        )


def _replace(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    table: str,
    key: str,
    column: str,
    changed: list[tuple[str, str]],
) -> int:
    """Sets a column where a key has a value, for all pairs at once. Returns how many there were."""
    if changed:
        keys, values = zip(*changed, strict=True)
        connection.register("redacted", pa.table({"key": list(keys), "new": list(values)}))
        connection.execute(
            f"UPDATE {table} SET {column} = redacted.new FROM redacted "
            f"WHERE {table}.source_id = $1 AND {table}.{key}::VARCHAR = redacted.key",
            [source.source_id],
        )
        connection.unregister("redacted")
    return len(changed)

"""Loading of memory snapshots into the scratch database."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from ingest import sql
from ingest.errors import ProfileError
from ingest.formats.snapshot.reader import MemorySnapshot
from ingest.formats.snapshot.schemas import EVENT_SCHEMA
from ingest.formats.source import Source
from ingest.formats.stacks import Stacks
from ingest.formats.staging import Progress, Staging, until_failure

LABELLED = "* EXCLUDE (device), 'cuda:' || device AS device_label"
COLUMNS = {
    "segments": LABELLED,
    "blocks": LABELLED,
    "marks": "'cuda:' || device AS device_label, name, stage, row_number() OVER () AS ordinal, "
    "CASE WHEN time_us BETWEEN 0 AND 4e15 THEN time_us * 1000 END AS time_ns",  # up to 2096
    "settings": "map(list(setting), list(value)) AS settings",
}
MAX_BYTES = 1 << 50
MAX_ADDRESS = (1 << 64) - (1 << 51)  # plus a size up to MAX_BYTES, it does not overflow


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read a memory snapshot into the staged tables, and fill in the attributes of `source`.

    Snapshots of a run share their stacks: each distinct stack has one id. Raise ProfileError if
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
        if rows:
            columns = f"{COLUMNS[name]}, {source.source_id} AS source_id"
            staging.insert(f"staged_{name}", rows, columns)
    new_frames, new_stacks = stacks.new_tables()
    staging.insert("staged_frames", new_frames, f"*, {source.source_id} AS source_id")
    staging.insert("staged_stacks", new_stacks)
    (source.events,) = connection.execute(
        "SELECT count(*) FROM staged_actions WHERE source_id = $1", [source.source_id]
    ).fetchall()[0]


def _check_sizes(rows: pa.Table, path: Path, noun: str) -> None:
    """Raise ProfileError for impossible sizes and addresses, whose sums would overflow."""
    sizes = rows["bytes"].to_numpy(zero_copy_only=False)
    ends = rows["address"].to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero((sizes < 0) | (sizes > MAX_BYTES) | (ends > float(MAX_ADDRESS)))
    if len(wrong):
        row = rows.slice(wrong[0], 1).to_pylist()[0]
        number = row.get("ordinal", int(wrong[0]))
        raise ProfileError(
            f"{path}: {noun} {number:,} of device {row['device']} has an impossible size or "
            f"address: {row['bytes'] or 0:,} bytes at address {row['address']}"
        )


def _checked(snapshot: MemorySnapshot) -> Iterator[pa.RecordBatch]:
    """Yield the actions, and check the sizes in the whole snapshot before the last one."""
    for batch in snapshot.events():
        _check_sizes(batch, snapshot.path, "action")
        yield batch
    _check_sizes(snapshot.segments, snapshot.path, "segment")
    _check_sizes(snapshot.blocks, snapshot.path, "block")

"""Checks of the files of a lake."""

import io
from collections.abc import Collection, Mapping
from typing import NamedTuple

import pyarrow.parquet as pq

from ingest.store.faults import MISSING, SIZE, UNREADABLE, Fault
from ingest.store.lake.commits import Change, change_runs, change_table
from ingest.store.lake.head import LakeFile
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import RUNS, kinds_of_tables
from ingest.store.lake.snapshot import Snapshot


class Damaged(NamedTuple):
    """A damaged file of a table, and its fault."""

    table: str
    file: LakeFile
    fault: Fault


def find_damaged(snapshot: Snapshot) -> list[Damaged]:
    """Read all files of a snapshot, and return the damaged ones."""
    return [
        Damaged(table, file, fault)
        for table in kinds_of_tables()
        for file in snapshot.files(table)
        if (fault := _fault(snapshot.place, table, file))
    ]


def drop(place: LakePlace, damaged: Collection[Damaged], batches: Mapping[str, str]) -> None:
    """Drop damaged files, except those that a run still needs.

    `batches` maps the runs that needed them to their batches. A run that was rebuilt has another.
    """
    now = Snapshot(place).runs
    left = {
        run_id for run_id, batch in batches.items() if run_id in now and now[run_id].batch == batch
    }
    versions = {
        table: change_table(place, table, [], [file])
        for table, file, _ in damaged
        if table != RUNS and not file.may_have(left)
    }
    if versions:
        change_runs(place, lambda head: Change(head.state.with_versions(versions)))


def _fault(place: LakePlace, table: str, file: LakeFile) -> Fault | None:
    """Return the fault of a file, or None. All of its rows are read."""
    name = f"{table}/{file.path}"
    try:
        content = place.filesystem.cat_file(place.path(table, file.path))
    except FileNotFoundError:  # other errors are not about the file
        return Fault(MISSING, name)
    if len(content) != file.bytes:
        return Fault(SIZE, name)
    try:
        with pq.ParquetFile(io.BytesIO(content)) as parquet:
            rows = sum(batch.num_rows for batch in parquet.iter_batches())
    except (OSError, ValueError):  # pyarrow's errors derive from these
        return Fault(UNREADABLE, name)
    return None if rows == file.rows else Fault(UNREADABLE, name)

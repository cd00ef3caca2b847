"""Checks of the files of a lake."""

from typing import NamedTuple

import pyarrow.parquet as pq

from ingest.store.files.faults import MISSING, SIZE, UNREADABLE, Fault
from ingest.store.lake.commits import LakeFile
from ingest.store.lake.place import LakePlace


class Damaged(NamedTuple):
    """A damaged file of a table, and its fault."""

    table: str
    file: LakeFile
    fault: Fault


def find_fault(place: LakePlace, table: str, file: LakeFile) -> Fault | None:
    """Return the fault of a file, or None. All of its rows are read."""
    name, path = f"{table}/{file.path}", place.path(table, file.path)
    try:
        if place.filesystem.size(path) != file.bytes:
            return Fault(SIZE, name)
        with place.filesystem.open(path) as opened, pq.ParquetFile(opened) as parquet:
            rows = sum(batch.num_rows for batch in parquet.iter_batches())
    except FileNotFoundError:
        return Fault(MISSING, name)
    except (OSError, ValueError):  # pyarrow's errors derive from these
        return Fault(UNREADABLE, name)
    return None if rows == file.rows else Fault(UNREADABLE, name)

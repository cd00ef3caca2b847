"""The index: one file with what is asked of all runs, so that not a file of each is opened.

    <store>/index.parquet     a row for each run

It is derived, and can be made again at any time. A row holds where the run lies, what is wrong with
it, and its rows of each relation whose SQL says `Indexed:`, as a list of structs.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from ingest import sql
from ingest.store.faults import Fault
from ingest.store.places import Place

INDEX = "index.parquet"
VERSION = "index_version"
NAME_COLUMN = "runs.list.element.name"
STATE = {  # the columns beside the indexed relations, with their types
    "run_id": "VARCHAR",
    "version": "VARCHAR",
    "changed_ns": "BIGINT",
    "fault_code": "VARCHAR",
    "fault_file": "VARCHAR",
}


@dataclass(frozen=True)
class Entry:
    """What the index knows of a run: its version, when it was changed, what is wrong with it, and
    its name."""

    version: str
    changed_ns: int
    fault: Fault | None = None
    name: str | None = None

    def is_of(self, place: Place) -> bool:
        """Whether the run is as it was."""
        return (self.version, self.changed_ns) == (place.version, place.changed_ns)


@cache
def index_version() -> str:
    """Indexes of the same version hold the same, worked out in the same way."""
    return sql.digest([sql.indexed_rows([], lambda table: table), sql.schema_version()])


def read_index(file: Path) -> dict[str, Entry] | None:
    """The runs in an index, by id; None where it is missing, damaged or of another version."""
    try:
        with pq.ParquetFile(file) as index:
            written_by = (index.metadata.metadata or {}).get(VERSION.encode(), b"").decode()
            read = index.read([*STATE, NAME_COLUMN], use_threads=False)  # so few rows are faster so
            columns = read.to_pydict().values()
    except (OSError, ValueError, KeyError):  # pyarrow's own errors are of these
        return None
    if written_by != index_version():
        return None
    return {
        run_id: Entry(
            version,
            changed_ns,
            Fault(code, file) if code else None,
            rows[0]["name"] if rows else None,
        )
        for run_id, version, changed_ns, code, file, rows in zip(*columns, strict=True)
    }


def relation_rows(relation: str, index: str) -> str:
    """The query for the rows of an indexed relation; `index` is the expression of the file."""
    return f"SELECT run_id, row.* FROM (SELECT run_id, unnest({relation}) AS row FROM {index})"

"""The index: one file with the columns needed from all runs, so that no run's files are opened.

    <store>/index.parquet     a row for each run

The index is derived and can be written again at any time. A row contains the run's version, its
fault, if any, and its rows of each relation whose SQL header has `Indexed:`, as a list of structs.
"""

from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from ingest import sql
from ingest.store.faults import Fault
from ingest.store.places import StoredRun

INDEX = "index.parquet"
VERSION = "index_version"
NAME_COLUMN = "runs.list.element.name"
STATE = {  # the columns other than the indexed relations, with their types
    "run_id": "VARCHAR",
    "version": "VARCHAR",
    "changed_ns": "BIGINT",
    "fault_code": "VARCHAR",
    "fault_file": "VARCHAR",
}


@dataclass(frozen=True)
class Entry:
    """The state of a run in the index: its version, time of last change, fault and name."""

    version: str
    changed_ns: int
    fault: Fault | None = None
    name: str | None = None

    def is_of(self, run: StoredRun) -> bool:
        """Whether the run is unchanged since the entry was written."""
        return (self.version, self.changed_ns) == (run.version, run.changed_ns)


def read_index(file: Path) -> dict[str, Entry] | None:
    """Return the entries of an index, by run id.

    Return None if the index is missing, damaged or of another version.
    """
    try:
        with pq.ParquetFile(file) as index:
            written_by = (index.metadata.metadata or {}).get(VERSION.encode(), b"").decode()
            # One thread is faster for a small file.
            read = index.read([*STATE, NAME_COLUMN], use_threads=False)
            columns = read.to_pydict().values()
    except (OSError, ValueError, KeyError):  # pyarrow's errors derive from these
        return None
    if written_by != sql.index_version():
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
    """Return the query for an indexed relation's rows. `index` is a SQL expression of the file."""
    return f"SELECT run_id, row.* FROM (SELECT run_id, unnest({relation}) AS row FROM {index})"

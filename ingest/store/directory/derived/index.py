"""The index: one file with the columns needed from all runs, so that no run's files are opened.

    <store>/index-<digest>.parquet     a row for each run that can be read
    <store>/index.parquet              a link to it, for other programs

The index is derived and can be written again at any time. Its name is a digest of the runs, so a
transaction reads the index of exactly the runs that it sees. A row contains the run's rows of each
relation whose SQL header has `Indexed:`, as a list of structs.
"""

from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq

from ingest import sql
from ingest.store.directory.files.listing import Listing

INDEX = "index.parquet"
INDEXES = "index-"  # the beginning of their names
NAME = f"{INDEXES}{{}}.parquet"
VERSION = "index_version"
STATE = {"run_id": "VARCHAR", "content": "VARCHAR"}  # the columns other than indexed relations


def index_version() -> str:
    """Return a digest of the definition of the index."""
    return sql.digest([sql.index_version(), *STATE])


def index_path(directory: Path, listing: Listing) -> Path:
    """Return the path in `directory` of the index of the runs in a listing."""
    return directory / NAME.format(sql.digest([index_version(), listing.digest()]))


def is_indexed(directory: Path, listing: Listing) -> bool:
    """Return whether `directory` has an intact index of the runs in a listing."""
    known = read_index(index_path(directory, listing))
    return known == {run.run_id: run.content for run in listing.readable()}


def read_index(file: Path) -> dict[str, str] | None:
    """Return the `ListedRun.content` of each run in an index, by run id.

    Return None if the index is missing, damaged or of another version.
    """
    try:
        with pq.ParquetFile(file) as index:
            if (index.metadata.metadata or {}).get(
                VERSION.encode(), b""
            ).decode() != index_version():
                return None
            columns = index.read([*STATE]).to_pydict().values()
    except (OSError, ValueError, KeyError):  # pyarrow's errors derive from these
        return None
    return dict(zip(*columns, strict=True))


def indexes(store: Path) -> list[tuple[int, Path]]:
    """Return the indexes in a store, each with the time in ns when it was written, oldest first."""
    found = []
    for file in store.glob(NAME.format("*")):
        with suppress(FileNotFoundError):  # deleted meanwhile
            found.append((file.stat().st_mtime_ns, file))
    return sorted(found)


def relation_rows(relation: str, index: str) -> str:
    """Return the query for an indexed relation's rows. `index` is a SQL relation: its rows."""
    return f"SELECT run_id, row.* FROM (SELECT run_id, unnest({relation}) AS row FROM {index})"

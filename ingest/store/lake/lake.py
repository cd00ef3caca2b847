"""A lake: its runs, and connections to it.

A connection sees one version of each table as long as it is open.
"""

import re
import threading
import uuid
from functools import cached_property

import duckdb

from ingest.errors import StoreError
from ingest.store import run_ids
from ingest.store.derived.catalog import create_path
from ingest.store.lake.catalog import FILES, copy_catalog
from ingest.store.lake.commits import REWRITTEN, paths, read_versions
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import DAY, RUNS, write_empty
from ingest.store.place import url_of
from ingest.store.reading.private import private_directory

OURS = re.compile(rf"{DAY}=[0-9-]{{10}}/[0-9a-f]{{32}}\.parquet")  # the path of a file of a batch


class Lake:
    """The runs at a URL, as they are when the lake is opened.

    The constructor raises StoreError if there is no lake.
    """

    def __init__(self, url: str) -> None:
        self.place = LakePlace(url_of(url))
        if not self.place.exists(RUNS):
            raise StoreError(f"{url}: no such store; `ingest push` creates one")
        self._files = _Files(self.place)

    @property
    def path(self) -> str:
        """The URL."""
        return self.place.url

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, sorted."""
        return sorted(self._names)

    def find(self, reference: str) -> str:
        """Return the id of the run that an id, a unique beginning of an id, or a name refers to.

        Raise StoreError if `reference` matches no run or several.
        """
        return run_ids.find(self.place.url, self._names, reference)

    def create_views(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create every table, view and macro in an in-memory connection."""
        self.place.register(connection)
        copy_catalog(connection)
        create_path(connection, self.place.url)
        connection.create_function(FILES, self._files.of_table, ["VARCHAR", "UBIGINT"], "VARCHAR[]")

    @cached_property
    def _names(self) -> dict[str, str | None]:
        """The names of the runs, by id."""
        with self.place.reported("read"), duckdb.connect() as connection:
            self.place.register(connection)
            rows = connection.execute(
                "SELECT run_id, name FROM read_parquet($1, hive_partitioning = false)",
                [self._files.of_table(RUNS)],
            ).fetchall()
        return dict(rows)


class _Files:
    """The files of the batches that `runs` has, in the versions that belong to it."""

    def __init__(self, place: LakePlace) -> None:
        self._place = place
        self._runs = place.open(RUNS)
        self._versions = read_versions(place, self._runs)
        self._lock = threading.Lock()
        self._found: dict[str, list[str]] = {}

    def of_table(self, table: str, transaction: int = 0) -> list[str]:
        """Return the files of a table or of the index. DuckDB calls this to bind a statement."""
        with self._lock:
            if table not in self._found:
                self._found[table] = self._files(table) or [_empty(table)]
            return self._found[table]

    @cached_property
    def _batches(self) -> set[str]:
        """The paths of the visible files, which are the same in all tables."""
        return paths(self._runs)

    def _files(self, table: str) -> list[str]:
        if table == RUNS:
            opened = self._runs
        elif table in self._versions:
            opened = self._place.open(table, self._versions[table])
        else:
            return []
        found = paths(opened)
        if not all(map(OURS.fullmatch, found)):
            raise StoreError(f"{self._place.url}: {REWRITTEN}")
        return sorted(self._place.path(table, path) for path in found & self._batches)


def _empty(table: str) -> str:
    """Return a file without rows of a table."""
    target = private_directory() / f"lake-{table}.parquet"
    if not target.exists():
        new = target.with_name(f"{uuid.uuid4().hex}.parquet")  # another thread may write it, too
        write_empty(table, new)
        new.replace(target)
    return str(target)

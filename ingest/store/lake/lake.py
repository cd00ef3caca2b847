"""A lake: its runs, and connections to it.

A connection sees one version of each table as long as it is open.
"""

import threading
from functools import cached_property

import duckdb

from ingest.errors import StoreError
from ingest.store import run_ids
from ingest.store.derived.catalog import UNSOUND, create_path
from ingest.store.lake.catalog import FILES, copy_catalog
from ingest.store.lake.commits import paths, read_versions
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import RUNS, write_empty
from ingest.store.reading.private import private_directory


class Lake:
    """The runs at a URL, as they are when the lake is opened.

    The constructor raises StoreError if there is no lake.
    """

    def __init__(self, url: str) -> None:
        self.place = LakePlace(url)
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

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open an in-memory connection with every table, view and macro."""
        connection = duckdb.connect()
        connection.execute(f"SET disabled_optimizers = '{UNSOUND}'")
        self.place.register(connection)
        copy_catalog(connection)
        create_path(connection, self.place.url)
        connection.create_function(FILES, self._files.of_table, ["VARCHAR", "UBIGINT"], "VARCHAR[]")
        return connection

    @cached_property
    def _names(self) -> dict[str, str | None]:
        """The names of the runs, by id."""
        with duckdb.connect() as connection:
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
        return sorted(
            self._place.path(table, path) for path in paths(opened) if path in self._batches
        )


def _empty(table: str) -> str:
    """Return a file without rows of a table."""
    target = private_directory() / f"lake-{table}.parquet"
    if not target.exists():
        write_empty(table, target)
    return str(target)

"""A snapshot: what one version of a lake contains. It never changes."""

import re
import threading
import uuid
from collections.abc import Collection
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import duckdb

from ingest.errors import StoreError
from ingest.store.derived.catalog import create_path
from ingest.store.lake.catalog import FILES, REMOVED, copy_catalog
from ingest.store.lake.commits import (
    MERGED,
    REWRITTEN,
    Head,
    LakeFile,
    files_of,
    paths_to_read,
    read_head,
)
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import BATCH, DAY, RUNS, TABLES, write_empty
from ingest.store.reading.private import private_directory

OURS = re.compile(rf"{DAY}=[0-9-]{{10}}/({MERGED})?[0-9a-f]{{32}}\.parquet")


class LakeRun(NamedTuple):
    """A run of a lake. `batch` has its rows, `day` is that of adding, `tables` have its rows."""

    run_id: str
    name: str | None
    batch: str
    day: str
    tables: list[str]

    def is_in(self, file: LakeFile) -> bool:
        """Return whether rows of the run may be in a file of one of its tables."""
        is_likely = file.day == self.day and file.may_have([self.run_id])
        return is_likely and file.is_of([self.batch])


class Snapshot:
    """The latest version of the lake at a place, or its version at a time."""

    def __init__(self, place: LakePlace, as_of: datetime | None = None) -> None:
        self.place = place
        self.head: Head = read_head(place, as_of)
        self._lock = threading.RLock()
        self._files: dict[str, list[LakeFile]] = {}

    @cached_property
    def runs(self) -> dict[str, LakeRun]:
        """The runs by id, sorted."""
        if not self.head.files:
            return {}
        with self.place.reported("read"), duckdb.connect() as connection:
            self.place.register(connection)
            rows = connection.execute(
                f"SELECT run_id, name, {BATCH}, regexp_extract(filename, '{DAY}=([^/]+)', 1), "
                f"{TABLES} FROM read_parquet($1, hive_partitioning = false, filename = true) "
                "ORDER BY run_id",
                [paths_to_read(self.place, RUNS, self.head.files)],
            ).fetchall()
        return {row[0]: LakeRun(*row) for row in rows}

    @cached_property
    def batches(self) -> set[str]:
        """The batches of the runs."""
        return {run.batch for run in self.runs.values()}

    def files(self, table: str) -> list[LakeFile]:
        """Return the files of a table that may have rows of the runs."""
        with self._lock:  # DuckDB binds statements in several threads
            if table not in self._files:
                self._files[table] = self._read_files(table)
            return self._files[table]

    def runs_in(self, table: str, file: LakeFile) -> list[str]:
        """Return the ids of the runs whose rows may be in a file of a table."""
        batches = {each.name for each in self.files(table)}  # that are not merged
        return [
            run.run_id
            for run in self.runs.values()
            if table in run.tables
            and run.is_in(file)
            and (run.batch == file.name or run.batch not in batches)
        ]

    def create_views(
        self, connection: duckdb.DuckDBPyConnection, run_ids: Collection[str] = ()
    ) -> None:
        """Create every table, view and macro in an in-memory connection.

        With `run_ids`, they read only files that may have rows of these runs. That is faster, and
        enough for queries about these runs.
        """
        removed = [f"{batch}/{run_id}" for batch, run_id in sorted(self.head.state.removed)]

        def files(table: str, transaction: int) -> list[str]:
            """Return the files of a table. DuckDB calls this to bind a statement."""
            found = self.files(table)
            if run_ids and table != RUNS:
                runs = [self.runs[run_id] for run_id in run_ids]
                found = [file for file in found if any(run.is_in(file) for run in runs)]
            return paths_to_read(self.place, table, found) or [_empty(table)]

        self.place.register(connection)
        copy_catalog(connection)
        create_path(connection, self.place.url)
        connection.create_function(FILES, files, ["VARCHAR", "UBIGINT"], "VARCHAR[]")
        connection.create_function(REMOVED, lambda _: removed, ["UBIGINT"], "VARCHAR[]")

    def _read_files(self, table: str) -> list[LakeFile]:
        if table == RUNS:
            return self.head.files
        version = self.head.state.versions.get(table)
        if version is None:
            return []
        found = files_of(self.place.open(table, version))
        if not all(OURS.fullmatch(file.path) for file in found):
            raise StoreError(f"{self.place.url}: {REWRITTEN}")
        return [file for file in found if file.is_of(self.batches)]


def _empty(table: str) -> str:
    """Return a file without rows of a table."""
    target = private_directory() / f"lake-{table}.parquet"
    if not target.exists():
        new = target.with_name(f"{uuid.uuid4().hex}.parquet")  # another thread may write it, too
        write_empty(table, new)
        new.replace(target)
    return str(target)

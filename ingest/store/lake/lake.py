"""A lake: its runs, and connections to it.

A connection sees one version of each table as long as it is open.
"""

import re
import threading
import uuid
from collections.abc import Collection
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import duckdb

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.store import run_ids
from ingest.store.derived.catalog import create_path
from ingest.store.files.faults import Fault
from ingest.store.lake.catalog import FILES, REMOVED, copy_catalog
from ingest.store.lake.changes import edit, remove
from ingest.store.lake.checking import Damaged, find_fault
from ingest.store.lake.commits import (
    MERGED,
    REWRITTEN,
    Change,
    Head,
    LakeFile,
    change_runs,
    change_table,
    create,
    files_of,
    read_head,
)
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import BATCH, DAY, RUNS, kinds_of_tables, write_empty
from ingest.store.place import url_of
from ingest.store.reading.private import private_directory

OURS = re.compile(rf"{DAY}=[0-9-]{{10}}/({MERGED})?[0-9a-f]{{32}}\.parquet")


class LakeRun(NamedTuple):
    """A run of a lake: its name, and the batch with its rows."""

    name: str | None
    batch: str


class Lake:
    """The runs at a URL, as they are when the lake is opened, or as they were at the time `as_of`.

    The constructor raises StoreError if there is no lake.
    """

    def __init__(self, url: str, as_of: datetime | None = None) -> None:
        self.place = LakePlace(url_of(url))
        if not self.place.exists(RUNS):
            raise StoreError(f"{url}: no such store; `ingest push` creates one")
        self._head = read_head(self.place, as_of)
        self._lock = threading.RLock()
        self._files: dict[str, list[LakeFile]] = {}
        self._damaged: list[Damaged] = []

    @property
    def path(self) -> str:
        """The URL."""
        return self.place.url

    @property
    def head(self) -> Head:
        """The version of `runs` that the lake has."""
        return self._head

    @cached_property
    def runs(self) -> dict[str, LakeRun]:
        """The runs by id, sorted."""
        return runs_of(self.place, self.head)

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, sorted."""
        return list(self.runs)

    def find(self, reference: str) -> str:
        """Return the id of the run that an id, a unique beginning of an id, or a name refers to.

        Raise StoreError if `reference` matches no run or several.
        """
        return run_ids.find(self.place.url, self._names(), reference)

    def find_exactly(self, reference: str) -> str:
        """Return the id of the run that a full id or a name refers to.

        Raise StoreError if `reference` matches no run or several.
        """
        return run_ids.find_exactly(self.place.url, self._names(), reference)

    def remove(self, *run_ids: str) -> None:
        """Remove runs in one atomic step. Raise StoreError if one is not there."""
        remove(self.place, run_ids)
        self.drop_damaged()

    def edit(self, run_id: str, changes: AddOptions) -> None:
        """Change the labels of a run, as `ingest.edit` does."""
        edit(self.place, run_id, changes)

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
                batches = {self.runs[run_id].batch for run_id in run_ids}
                found = [f for f in found if f.is_of(batches) and f.may_have(run_ids)]
            return [self.place.path(table, file.path) for file in found] or [_empty(table)]

        self.place.register(connection)
        copy_catalog(connection)
        create_path(connection, self.place.url)
        connection.create_function(FILES, files, ["VARCHAR", "UBIGINT"], "VARCHAR[]")
        connection.create_function(REMOVED, lambda _: removed, ["UBIGINT"], "VARCHAR[]")

    def files(self, table: str) -> list[LakeFile]:
        """Return the files of visible batches of a table."""
        with self._lock:  # DuckDB binds statements in several threads
            if table not in self._files:
                self._files[table] = self._read_files(table)
            return self._files[table]

    def outdated(self) -> list[str]:
        """Return the ids of the runs that another version of tracehouse wrote, sorted."""
        with self.place.reported("read"), duckdb.connect() as connection:
            self.create_views(connection)
            rows = connection.execute(
                "SELECT run_id FROM runs WHERE logic_version <> $1 ORDER BY run_id",
                [sql.logic_version()],
            ).fetchall()
        return [run_id for (run_id,) in rows]

    def check(self, repair: bool = False) -> None:
        """Read all files to check them. Then `faults` has the runs that may be damaged."""
        with self.place.reported("read"):
            self._damaged = [
                Damaged(table, file, fault)
                for table in kinds_of_tables()
                for file in self.files(table)
                if (fault := find_fault(self.place, table, file))
            ]

    def faults(self) -> dict[str, Fault]:
        """Return the faults of runs that the last check found, by run id."""
        return {
            run_id: damaged.fault
            for run_id, run in self.runs.items()
            for damaged in self._damaged
            if damaged.file.may_have([run_id]) and damaged.file.is_of([run.batch])
        }

    def drop_damaged(self) -> None:
        """Drop the damaged files that the last check found, once all their runs are rebuilt."""
        if not self._damaged:
            return
        head = read_head(self.place)
        now = runs_of(self.place, head)
        left = {i for i in self.faults() if i in now and now[i].batch == self.runs[i].batch}
        gone = [each for each in self._damaged if not each.file.may_have(left)]
        with self.place.reported("write"):
            versions = {
                each.table: change_table(self.place, each.table, [], [each.file]) for each in gone
            }
            change_runs(self.place, lambda head: Change(head.state.with_versions(versions)))

    def _names(self) -> dict[str, str | None]:
        return {run_id: run.name for run_id, run in self.runs.items()}

    def _read_files(self, table: str) -> list[LakeFile]:
        if table == RUNS:
            return self.head.files
        version = self.head.state.versions.get(table)
        if version is None:
            return []
        found = files_of(self.place.open(table, version))
        if not all(OURS.fullmatch(file.path) for file in found):
            raise StoreError(f"{self.path}: {REWRITTEN}")
        return [file for file in found if file.is_of(self._batches)]

    @cached_property
    def _batches(self) -> set[str]:
        return {run.batch for run in self.runs.values()}


def created(url: str) -> Lake:
    """Open the lake at a URL. Create it if there is none."""
    place = LakePlace(url_of(url))
    with place.reported("write"):
        create(place)
    return Lake(url)


def runs_of(place: LakePlace, head: Head) -> dict[str, LakeRun]:
    """Return the runs of a version of `runs` by id, sorted."""
    if not head.files:
        return {}
    with place.reported("read"), duckdb.connect() as connection:
        place.register(connection)
        rows = connection.execute(
            f"SELECT run_id, name, {BATCH} FROM read_parquet($1, hive_partitioning = false) "
            "ORDER BY run_id",
            [[place.path(RUNS, file.path) for file in head.files]],
        ).fetchall()
    return {run_id: LakeRun(name, batch) for run_id, name, batch in rows}


def _empty(table: str) -> str:
    """Return a file without rows of a table."""
    target = private_directory() / f"lake-{table}.parquet"
    if not target.exists():
        new = target.with_name(f"{uuid.uuid4().hex}.parquet")  # another thread may write it, too
        write_empty(table, new)
        new.replace(target)
    return str(target)

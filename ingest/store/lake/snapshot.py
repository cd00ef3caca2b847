"""A snapshot: what one version of a lake contains. It never changes."""

import re
import threading
import uuid
from collections.abc import Collection
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.store.directory.derived.catalog import UNSOUND, create_path
from ingest.store.directory.reading.private import private_directory
from ingest.store.lake.catalog import FILES, REMOVED, SHOWN, copy_catalog
from ingest.store.lake.head import (
    DIGITS,
    MERGED,
    REWRITTEN,
    SUFFIX,
    Head,
    LakeFile,
    files_of,
    read_head,
)
from ingest.store.lake.kept import paths_to_query
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import BATCH, DAY, RUNS, TABLES, write_empty
from ingest.units import as_utf8

OURS = re.compile(
    rf"{DAY}=[0-9-]{{10}}/({MERGED})?[0-9a-f]{{32}}-[0-9a-f]{{{DIGITS}}}{re.escape(SUFFIX)}"
)


class LakeRun(NamedTuple):
    """A run of a lake.

    Its rows in other tables have the batch `batch`. Its row of `runs` is in the file `of_runs`.
    """

    run_id: str
    name: str | None
    batch: str
    of_runs: LakeFile

    def is_in(self, table: str, file: LakeFile) -> bool:
        """Return whether rows of the run may be in a file of a table."""
        if table == RUNS:
            return file == self.of_runs
        is_likely = file.day == self.of_runs.day and file.may_have([self.run_id])
        return is_likely and file.is_of([self.batch])


class Snapshot:
    """The latest version of the lake at a place, or its version at a time."""

    def __init__(self, place: LakePlace, as_of: datetime | None = None) -> None:
        self.place = place
        self.head: Head = read_head(place, as_of)
        self._lock = threading.RLock()
        self._files: dict[str, list[LakeFile]] = {}
        self._found: dict[str, LakeRun] = {}

    @cached_property
    def runs(self) -> dict[str, LakeRun]:
        """The runs by id, sorted."""
        return self._read_lake_runs()

    def runs_with(self, run_ids: Collection[str]) -> dict[str, LakeRun]:
        """Return the runs with these ids, by id. Ids that are not there are left out.

        The first call reads only these runs, and a later one that asks for others reads all.
        """
        if self._found.keys() >= {*run_ids}:
            known = self._found
        elif self._found or "runs" in vars(self):
            known = self.runs
        else:
            known = self._found = self._read_lake_runs(run_ids)
        return {run_id: known[run_id] for run_id in run_ids if run_id in known}

    @cached_property
    def batches(self) -> set[str]:
        """The batches of the runs."""
        if "runs" in vars(self):
            return {run.batch for run in self.runs.values()}
        return {batch for batch, _ in self._read_runs(f"DISTINCT {BATCH}")}

    def files(self, table: str) -> list[LakeFile]:
        """Return the files of a table that may have rows of the runs."""
        found = self._all_files(table)
        return found if table == RUNS else [file for file in found if file.is_of(self.batches)]

    def runs_in(self, table: str, file: LakeFile) -> list[str]:
        """Return the ids of the runs whose rows may be in a file of a table."""
        batches = {each.name for each in self.files(table)}  # that are not merged
        with_rows = self._read_runs("run_id", f"list_contains({TABLES}, {sql.literal(table)})")
        runs = [self.runs[run_id] for run_id, _ in with_rows]
        return [
            run.run_id
            for run in runs
            if run.is_in(table, file) and (run.batch == file.name or run.batch not in batches)
        ]

    def create_views(
        self, connection: duckdb.DuckDBPyConnection, run_ids: Collection[str] = ()
    ) -> None:
        """Create every table, view and macro in an in-memory connection.

        With `run_ids`, they show only these runs, and read only files that may have their rows.
        """
        shown = self.runs_with(run_ids)
        if missing := {*run_ids} - {*shown}:
            raise StoreError(f"{min(missing)}: no such run in {self.place.url}")
        removed = [f"{batch}/{run_id}" for batch, run_id in sorted(self.head.state.removed)]

        def files(table: str, transaction: int) -> list[str]:
            """Return the files of a table. DuckDB calls this to bind a statement."""
            if run_ids:
                runs = shown.values()
                found = [f for f in self._all_files(table) if any(r.is_in(table, f) for r in runs)]
            else:
                found = self.files(table)
            return paths_to_query(self.place, table, found) or [_empty(table)]

        connection.execute(f"SET disabled_optimizers = '{UNSOUND}'")
        self.place.register(connection)
        copy_catalog(connection, is_of_some=bool(run_ids))
        create_path(connection, self.place.url)
        connection.create_function(FILES, files, ["VARCHAR", "UBIGINT"], "VARCHAR[]")
        connection.create_function(REMOVED, lambda _: removed, ["UBIGINT"], "VARCHAR[]")
        connection.create_function(SHOWN, lambda _: [*run_ids], ["UBIGINT"], "VARCHAR[]")

    def _read_lake_runs(self, run_ids: Collection[str] | None = None) -> dict[str, LakeRun]:
        """Read the runs with these ids, by default all."""
        columns = f"run_id, name, {BATCH}"
        if run_ids is None:
            rows = self._read_runs(columns)
        else:
            wanted = [*map(as_utf8, run_ids)]
            rows = self._read_runs(columns, "list_contains($2::VARCHAR[], run_id)", wanted)
        return {run_id: LakeRun(run_id, name, batch, file) for run_id, name, batch, file in rows}

    def _read_runs(
        self, columns: str, condition: str = "true", *parameters: object
    ) -> list[tuple[Any, ...]]:
        """Return columns of rows of `runs`, and the file of each, sorted by the columns."""
        if not self.head.files:
            return []
        with self.place.reported("read"), duckdb.connect() as connection:
            paths = paths_to_query(self.place, RUNS, self.head.files)
            files = dict(zip(paths, self.head.files, strict=True))
            self.place.register(connection)
            rows = connection.execute(
                f"SELECT {columns}, filename "
                "FROM read_parquet($1, hive_partitioning = false, filename = true) "
                f"WHERE {condition} ORDER BY ALL",
                [[*files], *parameters],
            ).fetchall()
        return [(*row[:-1], files[row[-1]]) for row in rows]

    def _all_files(self, table: str) -> list[LakeFile]:
        """Return the files of a table, also those of batches that were never committed."""
        with self._lock:  # DuckDB binds statements in several threads
            if table not in self._files:
                self._files[table] = self._read_files(table)
            return self._files[table]

    def _read_files(self, table: str) -> list[LakeFile]:
        if table == RUNS:
            return self.head.files
        version = self.head.state.versions.get(table)
        if version is None:
            return []
        found = files_of(self.place.open(table, version))
        if not all(OURS.fullmatch(file.path) for file in found):
            raise StoreError(f"{self.place.url}: {REWRITTEN}")
        return found


def _empty(table: str) -> str:
    """Return a file without rows of a table."""
    target = private_directory() / f"lake-{table}.parquet"
    if not target.exists():
        new = target.with_name(f"{uuid.uuid4().hex}.parquet")  # another thread may write it, too
        write_empty(table, new)
        new.replace(target)
    return str(target)

"""Writing of the index. Rows of unchanged runs are copied from the previous index."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import duckdb

from ingest import sql
from ingest.disk import cause, is_full
from ingest.store.directory.derived.index import STATE, VERSION, index_version, indexes, read_index
from ingest.store.directory.derived.tables import Columns, columns_of, table_rows
from ingest.store.directory.files.detection import find_fault
from ingest.store.directory.files.listing import ListedRun, Listing
from ingest.store.faults import UNREADABLE, Fault

BATCH_RUNS = 200  # runs that one query reads


def write_index(
    target: Path,
    store: Path,
    listing: Listing,
    new: Mapping[str, Path] | None = None,
    is_suspect: bool = False,
) -> dict[str, Fault]:
    """Write an index of the runs in `listing` to the new file `target`.

    The rows of the runs `new` come from the files that `new` maps them to, which the pipeline
    wrote. The rows of unchanged runs come from the store's latest index, unless that `is_suspect`,
    and those of other runs from their tables. Return the faults of runs that turned out to be
    damaged: the index lacks them. Raise OSError or duckdb.Error if the index cannot be written.
    """
    try:
        return _write(target, store, listing, new or {}, is_suspect)
    except duckdb.Error as error:
        if is_suspect or cause(error, store):
            raise
        # Rows are copied from the latest index, which may be damaged.
        return _write(target, store, listing, new or {}, is_suspect=True)


def _write(
    target: Path, store: Path, listing: Listing, new: Mapping[str, Path], is_suspect: bool
) -> dict[str, Fault]:
    runs = {run.run_id: run for run in listing.readable()}
    latest = max(indexes(store), default=(0, target))[1]
    known = {} if is_suspect else read_index(latest) or {}
    kept = [i for i, run in runs.items() if i not in new and known.get(i) == run.content]
    unknown = [run for i, run in runs.items() if i not in new and i not in kept]
    faults: dict[str, Fault] = {}
    with duckdb.connect() as connection:
        parts = [
            f"SELECT {sql.literal(run_id)} AS run_id, * EXCLUDE (run_id) FROM {sql.literal(file)}"
            for run_id, file in new.items()
        ]
        if kept:
            names = ", ".join(file.name for file in sql.indexed())
            parts.append(
                f"SELECT run_id, {names} FROM {sql.literal(latest)} "
                f"WHERE run_id IN ({', '.join(map(sql.literal, kept))})"
            )
        if unknown or not parts:
            _create_macros(connection)
        reader = _Reader(connection, store, target)
        for version, of_version in _by_version(unknown).items():
            faults |= reader.read(version, of_version)
        parts += [f"FROM {sql.literal(file)}" for file in reader.files]
        state = ", ".join(
            f"unnest(${position}::{kind}[]) AS {name}"
            for position, (name, kind) in enumerate(STATE.items(), start=1)
        )
        parts = parts or [sql.indexed_rows([], sql.no_rows)]
        rows = " UNION ALL BY NAME ".join(f"({part})" for part in parts)
        intact = [(i, run.content) for i, run in runs.items() if i not in faults]
        connection.execute(
            f"COPY (FROM (SELECT {state}) LEFT JOIN ({rows}) USING (run_id) ORDER BY run_id) "
            f"TO {sql.literal(target)} (FORMAT parquet, COMPRESSION zstd, "
            f"KV_METADATA {{{VERSION}: '{index_version()}'}})",
            [list(column) for column in zip(*intact, strict=True)] or [[]] * len(STATE),
        )
    return faults


class _Reader:
    """A reader that copies the indexed rows of runs from their tables to files near the index."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, store: Path, target: Path) -> None:
        self._connection = connection
        self._store = store
        self._target = target
        self.files: list[Path] = []

    def read(self, version: str, runs: Sequence[ListedRun]) -> dict[str, Fault]:
        """Read runs of a version, and return the faults of those that are damaged."""
        columns = columns_of(self._store, version)
        faults: dict[str, Fault] = {}
        if columns is not None:  # no view reads runs with other columns
            for begin in range(0, len(runs), BATCH_RUNS):
                batch = runs[begin : begin + BATCH_RUNS]
                faults |= self._faults_of_reading(version, columns, batch)
        return faults

    def _faults_of_reading(
        self, version: str, columns: Columns, runs: Sequence[ListedRun]
    ) -> dict[str, Fault]:
        """Read the runs in one query. If it fails, bisect them to find the damaged ones."""
        try:
            self._copy(version, columns, runs)
        except duckdb.Error as error:
            if self._is_about_writing(error):
                raise
            if len(runs) == 1:
                [run] = runs
                fault = find_fault(self._store / run.directory, version, columns, thorough=True)
                return {run.run_id: fault or Fault(UNREADABLE, "")}
            middle = len(runs) // 2
            return self._faults_of_reading(
                version, columns, runs[:middle]
            ) | self._faults_of_reading(version, columns, runs[middle:])
        return {}

    def _is_about_writing(self, error: duckdb.Error) -> bool:
        is_of_memory = isinstance(error, duckdb.OutOfMemoryException)
        return is_of_memory or is_full(error) or str(self._target.parent) in str(error)

    def _copy(self, version: str, columns: Columns, runs: Sequence[ListedRun]) -> None:
        def rows(table: str) -> str:
            present = [
                self._store / run.directory / f"{table}.parquet"
                for run in runs
                if table in run.tables
            ]
            if not present:
                return sql.no_rows(table)
            return (
                f"{sql.no_rows(table)} UNION ALL BY NAME "
                f"{table_rows(table, version, columns, sql.literal(present))}"
            )

        file = self._target.with_name(f"rows_{len(self.files)}.parquet")
        missing = {file.name for file in sql.tables() if file.stored} - columns.keys()
        query = sql.indexed_rows([run.run_id for run in runs], rows, frozenset(missing))
        self._connection.execute(f"COPY ({query}) TO {sql.literal(file)} (FORMAT parquet)")
        self.files.append(file)


def _create_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the macros of `macros/`, which the query for the indexed rows uses."""
    for node in sql.nodes("catalog"):
        file = sql.files()[node.name]
        if file.kind == "macros":
            connection.execute(file.statement)


def _by_version(runs: Iterable[ListedRun]) -> dict[str, list[ListedRun]]:
    grouped: dict[str, list[ListedRun]] = {}
    for run in runs:
        grouped.setdefault(run.version, []).append(run)
    return grouped

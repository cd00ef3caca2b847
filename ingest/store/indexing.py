"""Writing of the index. Rows of unchanged runs are copied from the previous index."""

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.faults import OLD, Fault, find_fault
from ingest.store.index import INDEX, STATE, VERSION, Entry, read_index
from ingest.store.places import StoredRun
from ingest.store.tables import Columns, columns_of, table_rows

BATCH_RUNS = 200  # runs that one query reads


def write_index(
    target: Path,
    store: Path,
    found: Mapping[str, StoredRun],
    new: Mapping[str, Path] | None = None,
    suspects: Container[str] = (),
) -> dict[str, Entry]:
    """Write an index of the runs `found` to the new file `target`, and return its entries.

    The rows of the runs `new` come from the files that `new` maps them to, which the pipeline
    wrote. The rows of unchanged runs come from the store's index, and those of other runs from
    their tables. All files of the runs `suspects` are read and checked. Raise OSError or
    duckdb.Error if the index cannot be written.
    """
    known = read_index(store / INDEX) or {}
    new = new or {}
    entries = {run_id: Entry(found[run_id].version, found[run_id].changed_ns) for run_id in new}
    kept = {
        run_id: known[run_id]
        for run_id, run in found.items()
        if run_id in known.keys() - new.keys()
        and run_id not in suspects
        and known[run_id].is_of(run)
    }
    entries |= kept
    unknown = [run for run_id, run in found.items() if run_id not in entries]
    with duckdb.connect() as connection:
        parts = [
            f"SELECT {sql.literal(run_id)} AS run_id, * EXCLUDE (run_id) FROM {sql.literal(file)}"
            for run_id, file in new.items()
        ]
        if kept:
            names = ", ".join(file.name for file in sql.indexed())
            parts.append(
                f"SELECT run_id, {names} FROM {sql.literal(store / INDEX)} "
                f"WHERE run_id IN ({', '.join(map(sql.literal, kept))})"
            )
        if unknown or not parts:
            _create_macros(connection)
        reader = _Reader(connection, store, target, suspects)
        for version, runs in _by_version(unknown).items():
            entries |= reader.read(version, runs)
        parts += [f"FROM {sql.literal(file)}" for file in reader.files]
        state = ", ".join(
            f"unnest(${position}::{kind}[]) AS {name}"
            for position, (name, kind) in enumerate(STATE.items(), start=1)
        )
        parts = parts or [sql.indexed_rows([], sql.no_rows)]
        rows = " UNION ALL BY NAME ".join(f"({part})" for part in parts)
        connection.execute(
            f"COPY (FROM (SELECT {state}) LEFT JOIN ({rows}) USING (run_id) ORDER BY run_id) "
            f"TO {sql.literal(target)} (FORMAT parquet, COMPRESSION zstd, "
            f"KV_METADATA {{{VERSION}: '{sql.index_version()}'}})",
            _state(entries),
        )
    return entries


def read_entries(
    store: Path, runs: Iterable[StoredRun], suspects: Container[str] = ()
) -> dict[str, Entry]:
    """Return the entries that an index of these runs has, without writing one."""
    entries: dict[str, Entry] = {}
    for version, of_version in _by_version(runs).items():
        columns = columns_of(store, version)
        entries |= {run.run_id: _entry(run, _fault(run, columns, suspects)) for run in of_version}
    return entries


class _Reader:
    """A reader that copies the indexed rows of runs from their tables to files near the index."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        store: Path,
        target: Path,
        suspects: Container[str],
    ) -> None:
        self._connection = connection
        self._store = store
        self._target = target
        self._suspects = suspects
        self.files: list[Path] = []

    def read(self, version: str, runs: Sequence[StoredRun]) -> dict[str, Entry]:
        """Read runs of a version, and return their entries."""
        columns = columns_of(self._store, version)
        faults = {run.run_id: _fault(run, columns, self._suspects) for run in runs}
        if columns is not None:
            intact = [run for run in runs if not faults[run.run_id]]
            for begin in range(0, len(intact), BATCH_RUNS):
                batch = intact[begin : begin + BATCH_RUNS]
                faults |= self._faults_of_reading(version, columns, batch)
        return {run.run_id: _entry(run, faults[run.run_id]) for run in runs}

    def _faults_of_reading(
        self, version: str, columns: Columns, runs: Sequence[StoredRun]
    ) -> dict[str, Fault]:
        """Read the runs in one query. If it fails, bisect them to find the damaged ones."""
        try:
            self._copy(version, columns, runs)
        except duckdb.Error:
            if len(runs) == 1:
                fault = find_fault(runs[0], columns, thorough=True)
                return {runs[0].run_id: fault or Fault("unreadable", "")}
            middle = len(runs) // 2
            return self._faults_of_reading(
                version, columns, runs[:middle]
            ) | self._faults_of_reading(version, columns, runs[middle:])
        return {}

    def _copy(self, version: str, columns: Columns, runs: Sequence[StoredRun]) -> None:
        def rows(table: str) -> str:
            files = [run.directory / f"{table}.parquet" for run in runs]
            present = [file for file in files if file.exists()]
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
    """Create the scalar macros that the query for the indexed rows uses."""
    stored = frozenset(file.name for file in sql.tables() if file.stored)
    for file in sql.read_by_index(computed=stored):
        if file.kind == "macros":
            connection.execute(file.statement)


def _fault(run: StoredRun, columns: Columns | None, suspects: Container[str]) -> Fault | None:
    """Return a run's fault, or None. `columns`: those of its version, None if it is unreadable."""
    if columns is None:
        return Fault(OLD, "")
    return find_fault(run, columns, run.run_id in suspects)


def _entry(run: StoredRun, fault: Fault | None) -> Entry:
    return Entry(run.version, run.changed_ns, fault)


def _by_version(runs: Iterable[StoredRun]) -> dict[str, list[StoredRun]]:
    grouped: dict[str, list[StoredRun]] = {}
    for run in runs:
        grouped.setdefault(run.version, []).append(run)
    return grouped


def _state(entries: Mapping[str, Entry]) -> list[list[object]]:
    """Return the columns `STATE` of the index."""
    rows = [
        (run_id, entry.version, entry.changed_ns, *(entry.fault or (None, None)))
        for run_id, entry in entries.items()
    ]
    return [list(column) for column in zip(*rows, strict=True)] or [[]] * len(STATE)

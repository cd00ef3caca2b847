"""Writing the index: of runs that it knows from the index before, of others from their tables."""

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.faults import OLD, Fault, find_fault
from ingest.store.index import INDEX, STATE, VERSION, Entry, index_version, read_index
from ingest.store.places import Place
from ingest.store.tables import Columns, columns_of, table_rows

AT_A_TIME = 200  # runs that one query reads


def write_index(
    target: Path,
    store: Path,
    found: Mapping[str, Place],
    new: Mapping[str, Path] | None = None,
    suspects: Container[str] = (),
) -> dict[str, Entry]:
    """Writes an index of the runs `found` as the new file `target`; returns what it knows.

    Rows come, for the runs `new`, from the file given, which the pipeline wrote; for runs that are
    as they were, from the store's index; for others, from their tables. All files of the `suspects`
    are read. Raises OSError and duckdb.Error where it cannot be written.
    """
    known = read_index(store / INDEX) or {}
    new = new or {}
    entries = {run_id: Entry(found[run_id].version, found[run_id].changed_ns) for run_id in new}
    kept = {
        run_id: known[run_id]
        for run_id, place in found.items()
        if run_id in known.keys() - new.keys()
        and run_id not in suspects
        and known[run_id].is_of(place)
    }
    entries |= kept
    unknown = [place for run_id, place in found.items() if run_id not in entries]
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
        for version, places in _by_version(unknown).items():
            entries |= reader.read(version, places)
        parts += [f"FROM {sql.literal(file)}" for file in reader.files]
        state = ", ".join(
            f"unnest(${place}::{kind}[]) AS {name}"
            for place, (name, kind) in enumerate(STATE.items(), start=1)
        )
        parts = parts or [sql.indexed_rows([], sql.no_rows)]
        rows = " UNION ALL BY NAME ".join(f"({part})" for part in parts)
        connection.execute(
            f"COPY (FROM (SELECT {state}) LEFT JOIN ({rows}) USING (run_id) ORDER BY run_id) "
            f"TO {sql.literal(target)} (FORMAT parquet, COMPRESSION zstd, "
            f"KV_METADATA {{{VERSION}: '{index_version()}'}})",
            _state(entries),
        )
    return entries


class _Reader:
    """Reads the indexed rows of runs from their tables into files beside the new index."""

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

    def read(self, version: str, places: Sequence[Place]) -> dict[str, Entry]:
        """Reads runs of a version; returns what is now known of them."""
        columns = columns_of(self._store, version)
        if columns is None:
            return {p.run_id: _entry(p, Fault(OLD, "")) for p in places}
        faults = {
            place.run_id: find_fault(place, columns, place.run_id in self._suspects)
            for place in places
        }
        intact = [place for place in places if not faults[place.run_id]]
        for begin in range(0, len(intact), AT_A_TIME):
            faults |= self._faults_of_reading(version, columns, intact[begin : begin + AT_A_TIME])
        return {place.run_id: _entry(place, faults[place.run_id]) for place in places}

    def _faults_of_reading(
        self, version: str, columns: Columns, places: Sequence[Place]
    ) -> dict[str, Fault]:
        """Reads the runs at once; if that fails, each half of them, down to those at fault."""
        try:
            self._copy(version, columns, places)
        except duckdb.Error:
            if len(places) == 1:
                fault = find_fault(places[0], columns, thorough=True)
                return {places[0].run_id: fault or Fault("unreadable", "")}
            middle = len(places) // 2
            return self._faults_of_reading(
                version, columns, places[:middle]
            ) | self._faults_of_reading(version, columns, places[middle:])
        return {}

    def _copy(self, version: str, columns: Columns, places: Sequence[Place]) -> None:
        def rows(table: str) -> str:
            files = [place.directory / f"{table}.parquet" for place in places]
            there = [file for file in files if file.exists()]
            if not there:
                return sql.no_rows(table)
            return (
                f"{sql.no_rows(table)} UNION ALL BY NAME "
                f"{table_rows(table, version, columns, sql.literal(there))}"
            )

        file = self._target.with_name(f"rows_{len(self.files)}.parquet")
        query = sql.indexed_rows([place.run_id for place in places], rows)
        self._connection.execute(f"COPY ({query}) TO {sql.literal(file)} (FORMAT parquet)")
        self.files.append(file)


def _create_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the scalar macros that the query for the indexed rows takes."""
    for file in sql.read_by_index():
        if file.kind == "macros":
            connection.execute(file.statement)


def _entry(place: Place, fault: Fault | None) -> Entry:
    return Entry(place.version, place.changed_ns, fault)


def _by_version(places: Iterable[Place]) -> dict[str, list[Place]]:
    grouped: dict[str, list[Place]] = {}
    for place in places:
        grouped.setdefault(place.version, []).append(place)
    return grouped


def _state(entries: Mapping[str, Entry]) -> list[list[object]]:
    """The columns of the index that say where runs are and what is wrong with them."""
    rows = [
        (run_id, entry.version, entry.changed_ns, *(entry.fault or (None, None)))
        for run_id, entry in entries.items()
    ]
    return [list(column) for column in zip(*rows, strict=True)] or [[]] * len(STATE)

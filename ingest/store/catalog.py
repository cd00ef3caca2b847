"""The catalog: all tables, views and macros, in a connection or in the store's catalog file."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.index import INDEX, relation_rows
from ingest.store.places import EMPTY, PREFIX, RUNS, StoredRun, version_directory
from ingest.store.tables import Columns, columns_of, table_rows

CATALOG = "catalog.duckdb"
STAMP = "schema"  # the file with the digest of the store's catalog
# DuckDB 2.0 turns a sum over a partition into a join of the files with themselves, and drops a
# condition on `run_id` from one side, so that the sum covers all runs.
UNSOUND = "window_self_join"


@dataclass(frozen=True)
class Catalog:
    """The definition of a store's catalog.

    `versions` maps the versions of readable runs to their columns. `left_out` maps versions to the
    runs that cannot be read. If `is_indexed` is false, the views read the runs instead of the
    index.
    """

    store: Path
    versions: Mapping[str, Columns]
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_indexed: bool = True

    def digest(self) -> str:
        """Return a digest of all definitions."""
        return sql.digest([*self._statements(), str(self.store)])

    def define(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Define all tables, views and macros in the connection's empty database."""
        connection.begin()  # otherwise each of a thousand comments would be a transaction
        try:
            connection.execute(_path_macro(self.store))
            for statement in self._statements():
                connection.execute(statement)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()

    def move(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Turn the catalog of an empty store, in the connection's database, into this catalog."""
        connection.begin()
        connection.execute(_path_macro(self.store))
        for name, query in self._queries().items():
            if query != _of_empty_store()[name]:
                connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
                for statement in _comments(sql.files()[name]):
                    connection.execute(statement)
        connection.commit()

    def _statements(self) -> Iterator[str]:
        queries = self._queries()
        for node in sql.nodes("catalog"):
            if query := queries.get(node.name):
                yield f"CREATE VIEW {node.name} AS {query}"
            else:
                yield sql.files()[node.name].statement
        for file in sql.relations():
            yield from _comments(file)

    def _queries(self) -> dict[str, str]:
        """Return the queries of the views that read files, by name."""
        read = {table.name: self._table(table.name) for table in sql.tables()}
        if self.is_indexed:
            index = f"read_parquet({_path(INDEX)})"
            read |= {file.name: relation_rows(file.name, index) for file in sql.indexed()}
        return read

    def _table(self, table: str) -> str:
        """Return the query for a table's rows in all versions. Columns are matched by name.

        A view whose rows a version did not store yet is computed for the runs of that version.
        """
        parts = [
            self._table_of(version, columns, table)
            if table in columns
            else self._computed(version, columns, table)
            for version, columns in self.versions.items()
            if table in columns or sql.files()[table].stored
        ]
        if self.versions.keys() != {sql.schema_version()}:
            parts.insert(0, sql.no_rows(table))  # defines all columns and their order
        return " UNION ALL BY NAME ".join(parts)

    def _computed(self, version: str, columns: Columns, view: str) -> str:
        runs = self._table_of(version, columns, "runs")
        return (
            f"SELECT * FROM (\n{sql.files()[view].query}\n) "
            f"WHERE run_id IN (SELECT run_id FROM ({runs}))"
        )

    def _table_of(self, version: str, columns: Columns, table: str) -> str:
        directory = f"{RUNS}/{version}" if version else RUNS
        files = _path(f"{directory}/{PREFIX}*/{table}.parquet")
        if not (left_out := self.left_out.get(version)):
            return table_rows(table, version, columns, files)
        # DuckDB opens the first file regardless of the condition, so it must be intact.
        files = f"[{_path(f'{directory}/{EMPTY}/{table}.parquet')}, {files}]"
        listed = ", ".join(map(sql.literal, left_out))
        return f"{table_rows(table, version, columns, files)} WHERE run_id NOT IN ({listed})"


def catalog_of(
    store: Path, runs: Collection[StoredRun], unreadable: Container[str], is_indexed: bool
) -> Catalog:
    """Return the catalog of a store with these runs. It leaves out the runs `unreadable`."""
    ours = sql.schema_version()
    present = {run.version for run in runs} | {ours}
    read: dict[str, Columns] = {}
    left_out: dict[str, list[str]] = {}
    for version in sorted(present, key=lambda version: (version != ours, version)):
        if not version_directory(store, version).joinpath(EMPTY).is_dir():
            continue
        if (columns := columns_of(store, version)) is not None:
            read[version] = columns
            ids = [run.run_id for run in runs if run.version == version]
            left_out[version] = [run_id for run_id in ids if run_id in unreadable]
    return Catalog(store, read, left_out, is_indexed)


@cache
def _of_empty_store() -> dict[str, str]:
    return Catalog(Path(), {sql.schema_version(): sql.table_columns()})._queries()


def _path_macro(store: Path) -> str:
    return f"CREATE OR REPLACE MACRO store_path() AS {sql.literal(store)}"


def _path(relative: str) -> str:
    """Return the SQL expression for a path in the store."""
    return f"store_path() || {sql.literal(f'/{relative}')}"


def _comments(file: sql.SqlFile) -> Iterator[str]:
    kind = "MACRO TABLE" if file.macro else "VIEW"
    yield f"COMMENT ON {kind} {file.name} IS {sql.literal(file.documentation.text)}"
    if not file.macro:
        for column, meaning in file.documentation.columns.items():
            yield f"COMMENT ON COLUMN {file.name}.{column} IS {sql.literal(meaning)}"

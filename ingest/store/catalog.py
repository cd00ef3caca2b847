"""The public names: every table and view, in a connection or in the store's catalog file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.index import INDEX, relation_rows
from ingest.store.places import EMPTY, PREFIX, RUNS
from ingest.store.tables import Columns, table_rows

CATALOG = "catalog.duckdb"
STAMP = "schema"  # the store's file with the digest of what its catalog defines
# DuckDB 2.0 turns a sum over a partition into a join of the files with themselves, and drops a
# condition on `run_id` from one side, so that the sum covers all runs.
UNSOUND = "window_self_join"


@dataclass(frozen=True)
class Catalog:
    """What a store's catalog defines.

    `versions` are those of the runs that can be read, with their columns; `left_out` are runs that
    cannot, by version. Without an index, what it holds is read from the runs.
    """

    store: Path
    versions: Mapping[str, Columns]
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_indexed: bool = True

    def digest(self) -> str:
        """Of all that it defines."""
        return sql.digest([*self._statements(), str(self.store)])

    def define(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Defines all names in the connection's database, from nothing."""
        connection.begin()  # without a transaction, each of a thousand comments would be one
        try:
            connection.execute(_path_macro(self.store))
            for statement in self._statements():
                connection.execute(statement)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()

    def move(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Makes a catalog of an empty store, which a connection has, the one of this store."""
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
        """The queries of the views that read files, by name."""
        read = {table.name: self._table(table.name) for table in sql.tables()}
        if self.is_indexed:
            index = f"read_parquet({_path(INDEX)})"
            read |= {file.name: relation_rows(file.name, index) for file in sql.indexed()}
        return read

    def _table(self, table: str) -> str:
        """The rows of a table in all versions, by the names of their columns."""
        parts = [
            self._table_of(version, columns, table)
            for version, columns in self.versions.items()
            if table in columns
        ]
        if self.versions.keys() != {sql.schema_version()}:
            parts.insert(0, sql.no_rows(table))  # it has all columns, in order
        return " UNION ALL BY NAME ".join(parts)

    def _table_of(self, version: str, columns: Columns, table: str) -> str:
        directory = f"{RUNS}/{version}" if version else RUNS
        files = _path(f"{directory}/{PREFIX}*/{table}.parquet")
        if not (left_out := self.left_out.get(version)):
            return table_rows(table, version, columns, files)
        # The first file is opened whatever the condition says: it must be an intact one.
        files = f"[{_path(f'{directory}/{EMPTY}/{table}.parquet')}, {files}]"
        listed = ", ".join(map(sql.literal, left_out))
        return f"{table_rows(table, version, columns, files)} WHERE run_id NOT IN ({listed})"


@cache
def _of_empty_store() -> dict[str, str]:
    return Catalog(Path(), {sql.schema_version(): sql.table_columns()})._queries()


def _path_macro(store: Path) -> str:
    return f"CREATE OR REPLACE MACRO store_path() AS {sql.literal(store)}"


def _path(relative: str) -> str:
    """The expression of a path in the store."""
    return f"store_path() || {sql.literal(f'/{relative}')}"


def _comments(file: sql.SqlFile) -> Iterator[str]:
    kind = "MACRO TABLE" if file.macro else "VIEW"
    yield f"COMMENT ON {kind} {file.name} IS {sql.literal(file.documentation.text)}"
    if not file.macro:
        for column, meaning in file.documentation.columns.items():
            yield f"COMMENT ON COLUMN {file.name}.{column} IS {sql.literal(meaning)}"

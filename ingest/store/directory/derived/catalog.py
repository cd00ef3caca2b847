"""The catalog: all tables, views and macros, in a connection or in the store's catalog file."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.directory.derived.index import INDEX, relation_rows
from ingest.store.directory.derived.tables import Columns, columns_of, our_columns, table_rows
from ingest.store.directory.files.places import PREFIX, RUNS

CATALOG = "catalog.duckdb"
STAMP = "schema"  # the file with the digest of the store's catalog
# DuckDB 2.0 turns a sum over a partition into a join of the files with themselves, and drops a
# condition on `run_id` from one side, so that the sum covers all runs.
UNSOUND = "window_self_join"

FILE_MACROS = (
    "CREATE MACRO table_files(version, relation, transaction_id) AS store_path() || "
    f"'/{RUNS}/' || version || '/{PREFIX}*/' || relation || '.parquet'",
    f"CREATE MACRO index_files(transaction_id) AS store_path() || '/{INDEX}'",
)


@dataclass(frozen=True)
class Catalog:
    """The definition of a store's catalog.

    `versions` maps the versions of readable runs to their columns. The views read the files that
    `table_files` and `index_files` return: macros in the catalog file, functions in a connection
    of this process (reading/visible.py).
    """

    store: Path
    versions: Mapping[str, Columns]

    def digest(self) -> str:
        """Return a digest of all definitions."""
        return sql.digest([*self._statements(), *FILE_MACROS, str(self.store)])

    def define(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Define all tables, views and macros in the connection's database.

        The database has `table_files` and `index_files`.
        """
        connection.begin()  # otherwise each of a thousand comments would be a transaction
        try:
            for statement in self._statements():
                connection.execute(statement)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()

    def move(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Turn the catalog of an empty store, in the connection's database, into this catalog."""
        connection.begin()
        create_path(connection, self.store)
        for name, query in self._queries().items():
            if query != _of_empty_store()[name]:
                connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
                for statement in _comments(sql.files()[name]):
                    connection.execute(statement)
        connection.commit()

    def _statements(self) -> Iterator[str]:
        queries = self._queries()
        nodes = sql.nodes("catalog")
        # Views on files of earlier versions call macros (`sql.added_columns`).
        for node in sorted(nodes, key=lambda node: sql.files()[node.name].kind != "macros"):
            if query := queries.get(node.name):
                yield f"CREATE VIEW {node.name} AS {query}"
            else:
                yield sql.files()[node.name].statement
        yield from _all_comments()

    def _queries(self) -> dict[str, str]:
        """Return the queries of the views that read files, by name."""
        read = {table.name: self._table(table.name) for table in sql.tables()}
        index = "read_parquet(index_files(txid_current()))"
        return read | {file.name: relation_rows(file.name, index) for file in sql.indexed()}

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
        files = f"table_files({sql.literal(version)}, {sql.literal(table)}, txid_current())"
        return table_rows(table, version, columns, files)


def catalog_of(store: Path, versions: Collection[str]) -> Catalog:
    """Return the catalog of a store with runs of these versions, those that can be read."""
    ours = sql.schema_version()
    columns = {
        version: columns_of(store, version)
        for version in sorted({*versions, ours}, key=lambda version: (version != ours, version))
    }
    return Catalog(store, {version: each for version, each in columns.items() if each is not None})


def create_path(connection: duckdb.DuckDBPyConnection, store: Path | str) -> None:
    """Create the macro `store_path()`."""
    connection.execute(f"CREATE OR REPLACE MACRO store_path() AS {sql.literal(store)}")


def create_file_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the macros that find the files of a store by patterns, for other programs."""
    for macro in FILE_MACROS:
        connection.execute(macro)


@cache
def _of_empty_store() -> dict[str, str]:
    return Catalog(Path(), {sql.schema_version(): our_columns()})._queries()


@cache
def _all_comments() -> tuple[str, ...]:
    return tuple(comment for file in sql.relations() for comment in _comments(file))


def _comments(file: sql.SqlFile) -> Iterator[str]:
    kind = "MACRO TABLE" if file.macro else "VIEW"
    yield f"COMMENT ON {kind} {file.name} IS {sql.literal(file.documentation.text)}"
    if not file.macro:
        for column, meaning in file.documentation.columns.items():
            yield f"COMMENT ON COLUMN {file.name}.{column} IS {sql.literal(meaning)}"

"""The public names: every table and view, in a connection or in the store's catalog file."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb

from ingest import sql
from ingest.reading import settled

CATALOG = "catalog.duckdb"


def create_views(connection: duckdb.DuckDBPyConnection, store: Path) -> None:
    """Creates all tables (as views on the store's Parquet files), views and macros, documented."""
    for statement in _statements(store):
        settled(partial(connection.execute, statement))  # to define a view is to read


def _statements(store: Path) -> Iterator[str]:
    for table in sql.tables():
        files = sql.quoted(store / "runs" / "*" / f"{table.name}.parquet")
        yield (
            f"CREATE VIEW {table.name} AS SELECT run_id, * EXCLUDE (run_id) FROM read_parquet("
            f"{files}, hive_partitioning = true, hive_types = {{'run_id': VARCHAR}})"
        )
    for file in (*sql.views(), *sql.macros()):
        yield file.text
    for file in (*sql.tables(), *sql.views()):
        yield f"COMMENT ON VIEW {file.name} IS {sql.quoted(file.documentation.text)}"
        for column, meaning in file.documentation.columns.items():
            yield f"COMMENT ON COLUMN {file.name}.{column} IS {sql.quoted(meaning)}"
    for macro in sql.macros():
        yield f"COMMENT ON MACRO TABLE {macro.name} IS {sql.quoted(macro.documentation.text)}"


def write_catalog(file: Path, store: Path) -> None:
    """Writes the catalog of `store` as a new DuckDB file; DuckDB 1.5 can read it."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.quoted(file)} AS catalog (STORAGE_VERSION 'v1.5.0')")
        connection.execute("USE catalog")
        create_views(connection, store)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")

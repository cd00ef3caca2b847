"""The public names: every table and view, in a connection or in the store's catalog file."""

import os
import uuid
from pathlib import Path

import duckdb

from ingest import sql

CATALOG = "catalog.duckdb"


def create_views(connection: duckdb.DuckDBPyConnection, store: Path) -> None:
    """Creates all tables (as views on the store's Parquet files), views and macros, documented."""
    for table in sql.tables():
        files = sql.quoted(store / "runs" / "*" / f"{table.name}.parquet")
        connection.execute(
            f"CREATE VIEW {table.name} AS SELECT run_id, * EXCLUDE (run_id) FROM read_parquet("
            f"{files}, hive_partitioning = true, hive_types = {{'run_id': VARCHAR}})"
        )
    for view in sql.views():
        connection.execute(view.text)
    for macro in sql.macros():
        connection.execute(macro.text)
    for file in (*sql.tables(), *sql.views()):
        _comment(connection, file)
    for macro in sql.macros():
        text = sql.quoted(macro.documentation.text)
        connection.execute(f"COMMENT ON MACRO TABLE {macro.name} IS {text}")


def _comment(connection: duckdb.DuckDBPyConnection, file: sql.SqlFile) -> None:
    text = sql.quoted(file.documentation.text)
    connection.execute(f"COMMENT ON VIEW {file.name} IS {text}")
    for column, meaning in file.documentation.columns.items():
        connection.execute(f"COMMENT ON COLUMN {file.name}.{column} IS {sql.quoted(meaning)}")


def write_catalog(store: Path) -> None:
    """Writes `<store>/catalog.duckdb`, replacing it in one step; DuckDB 1.5 can read it."""
    temporary = store / f".{CATALOG}-{uuid.uuid4().hex[:8]}"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.quoted(temporary)} AS catalog (STORAGE_VERSION 'v1.5.0')")
        connection.execute("USE catalog")
        create_views(connection, store)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")
    os.replace(temporary, store / CATALOG)

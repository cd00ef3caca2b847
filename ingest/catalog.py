"""The public names: every table and view, in a connection or in the store's catalog file."""

import hashlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import duckdb

from ingest import sql

CATALOG = "catalog.duckdb"
STAMP = "schema"  # the file beside it with the digests of the tables' columns and of the catalog


def create_views(connection: duckdb.DuckDBPyConnection, store: Path) -> None:
    """Gives a connection in memory all tables, views and macros of the store, documented.

    They are copied from the catalog where that is current: to define a view, DuckDB lists the
    files of all runs for each table in it; to copy one, it lists none.
    """
    try:
        if stamp(store)[1] == catalog_digest(store):
            _copy_views(connection, store)
            return
    except (OSError, UnicodeDecodeError, duckdb.Error):
        pass  # the catalog is missing, or open for writing elsewhere
    _define_views(connection, store)


def _copy_views(connection: duckdb.DuckDBPyConnection, store: Path) -> None:
    connection.execute(f"ATTACH {sql.quoted(store / CATALOG)} AS catalog (READ_ONLY)")
    try:
        connection.execute("COPY FROM DATABASE catalog TO memory")
    finally:
        connection.execute("DETACH catalog")


def _define_views(connection: duckdb.DuckDBPyConnection, store: Path) -> None:
    for statement in _definitions(store):
        connection.execute(statement)


def _definitions(store: Path) -> Iterator[str]:
    """Statements that create all tables (views on the Parquet files), views and macros."""
    for table in sql.tables():
        files = sql.quoted(store / "runs" / "*" / f"{table.name}.parquet")
        yield (
            f"CREATE VIEW {table.name} AS SELECT run_id, * EXCLUDE (run_id) FROM read_parquet("
            f"{files}, hive_partitioning = true, hive_types = {{'run_id': VARCHAR}})"
        )
    yield from (file.text for file in (*sql.views(), *sql.macros()))
    for file in (*sql.tables(), *sql.views()):
        yield f"COMMENT ON VIEW {file.name} IS {sql.quoted(file.documentation.text)}"
        for column, meaning in file.documentation.columns.items():
            yield f"COMMENT ON COLUMN {file.name}.{column} IS {sql.quoted(meaning)}"
    for macro in sql.macros():
        text = sql.quoted(macro.documentation.text)
        yield f"COMMENT ON MACRO TABLE {macro.name} IS {text}"


def write_catalog(store: Path) -> None:
    """Writes `<store>/catalog.duckdb`, replacing it in one step; DuckDB 1.5 can read it."""
    temporary = store / f".{CATALOG}-{uuid.uuid4().hex[:8]}"
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.quoted(temporary)} AS catalog (STORAGE_VERSION 'v1.5.0')")
        connection.execute("USE catalog")
        _define_views(connection, store)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")
    os.replace(temporary, store / CATALOG)


def stamp(store: Path) -> tuple[str, str]:
    """The digests that the store was written with: of its tables' columns, and of its catalog.

    Raises OSError or UnicodeDecodeError where it has none.
    """
    schema, _, catalog = (store / STAMP).read_text().partition(" ")
    return schema, catalog


def write_stamp(store: Path) -> None:
    """Says that the store has the tables and the catalog of this version."""
    temporary = store / f".{STAMP}-{uuid.uuid4().hex[:8]}"
    temporary.write_text(f"{schema_digest()} {catalog_digest(store)}")
    os.replace(temporary, store / STAMP)


def schema_digest() -> str:
    """Differs when the tables have other columns."""
    return _digest(f"{table.name} {list(table.documentation.columns)}" for table in sql.tables())


def catalog_digest(store: Path) -> str:
    """Differs when the store lies elsewhere, or this version defines other views."""
    return _digest(_definitions(store))


def _digest(texts: Iterator[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]

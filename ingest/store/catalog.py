"""The public names: every table and view, in a connection or in the store's catalog file."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.retry import retry_if_removed

CATALOG = "catalog.duckdb"
# DuckDB 2.0 turns a sum over a partition into a join of the files with themselves, and drops a
# condition on `run_id` from one side, so that the sum covers all runs.
UNSOUND = "window_self_join"
STAMP = "schema"  # the store's file with the digests of its tables and of its catalog


def create_views(connection: duckdb.DuckDBPyConnection, store: Path) -> None:
    """Gives a connection in memory all tables, views and macros of the store, documented.

    It also switches off the optimizer `UNSOUND`.

    They are copied from the catalog where that is current: to define a view, DuckDB lists the
    files of all runs for each table in it; to copy one, it lists none.
    """
    connection.execute(f"SET disabled_optimizers = '{UNSOUND}'")
    try:
        if (store / STAMP).read_text().partition(" ")[2] == catalog_digest(store):
            _copy(connection, store / CATALOG)
            return
    except (OSError, UnicodeDecodeError, duckdb.Error):
        pass  # the catalog is missing, or open for writing elsewhere
    _define(connection, store)


def _copy(connection: duckdb.DuckDBPyConnection, catalog: Path) -> None:
    connection.execute(f"ATTACH {sql.literal(catalog)} AS catalog (READ_ONLY)")
    try:
        connection.execute("COPY FROM DATABASE catalog TO memory")
    finally:
        connection.execute("DETACH catalog")


def _define(connection: duckdb.DuckDBPyConnection, store: Path) -> None:
    retry_if_removed(partial(_define_at_once, connection, store))  # to define a view is to read


def _define_at_once(connection: duckdb.DuckDBPyConnection, store: Path) -> None:
    """In one transaction: without it, each of a thousand comments would be one."""
    connection.begin()
    try:
        for statement in _statements(store):
            connection.execute(statement)
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _statements(store: Path) -> Iterator[str]:
    stored = {table.name for table in sql.tables()}
    for table in sql.tables():
        files = sql.literal(store / "runs" / "*" / f"{table.name}.parquet")
        yield (
            f"CREATE VIEW {table.name} AS SELECT run_id, * EXCLUDE (run_id) FROM read_parquet("
            f"{files}, hive_partitioning = true, hive_types = {{'run_id': VARCHAR}})"
        )
    for node in sql.nodes("catalog"):
        if node.name not in stored:
            yield sql.files()[node.name].statement
    for file in (*sql.tables(), *sql.views()):
        yield f"COMMENT ON VIEW {file.name} IS {sql.literal(file.documentation.text)}"
        for column, meaning in file.documentation.columns.items():
            yield f"COMMENT ON COLUMN {file.name}.{column} IS {sql.literal(meaning)}"
    for macro in sql.macros():
        yield f"COMMENT ON MACRO TABLE {macro.name} IS {sql.literal(macro.documentation.text)}"


def write_catalog(file: Path, store: Path) -> None:
    """Writes the catalog of `store` as a new DuckDB file; DuckDB 1.5 can read it."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.literal(file)} AS catalog (STORAGE_VERSION 'v1.5.0')")
        connection.execute("USE catalog")
        _define(connection, store)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def catalog_digest(store: Path) -> str:
    """Of all that is written into the store's catalog."""
    return digest(_statements(store))


def digest(texts: Iterable[str]) -> str:
    """A few characters that differ where the texts do."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]

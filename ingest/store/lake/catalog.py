"""The catalog of lakes: views over the files of Delta tables. It is the same for all lakes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import duckdb

from ingest import sql
from ingest.cache import cached
from ingest.store.directory.derived.catalog import CATALOG, Catalog, create_path
from ingest.store.directory.derived.index import relation_rows
from ingest.store.directory.derived.tables import our_columns
from ingest.store.lake.schema import (
    BATCH,
    RUNS,
    from_lake,
    indexed_kinds,
    kinds_of_tables,
    write_empty,
)

FILES = "lake_files"  # the function that returns the files of a table
REMOVED = "lake_removed"  # the function that returns the runs whose rows are left out
SHOWN = "lake_shown"  # the function that returns the runs whose rows are shown
FUNCTIONS = (FILES, REMOVED, SHOWN)


@dataclass(frozen=True)
class LakeCatalog(Catalog):
    """The definition of all tables, views and macros over the files that `FILES` returns.

    `is_of_some`: whether they show only the runs that `SHOWN` returns.
    """

    is_of_some: bool

    def _queries(self) -> dict[str, str]:
        index = f"({self._rows(RUNS, indexed_kinds())})"
        return {
            **{
                table: self._rows(table, columns)
                for table, columns in sql.table_columns().items()
                if table in kinds_of_tables()
            },
            **{
                file.name: relation_rows(file.name, index)
                for file in sql.indexed()
                if file.name != RUNS
            },
        }

    def _rows(self, table: str, columns: Iterable[str]) -> str:
        """Return the query for columns of a table.

        Usually no run is removed, and DuckDB folds away the test for that.
        """
        removed = f"{REMOVED}(txid_current())"
        rows = (
            f"SELECT run_id, {from_lake(table, columns)} FROM read_parquet("
            f"{FILES}({sql.literal(table)}, txid_current()), hive_partitioning = false) AS stored"
        )
        tests = []
        if self.is_of_some:
            tests.append(f"stored.run_id IN (SELECT unnest({SHOWN}(txid_current())))")
        if table != RUNS:
            tests.append(
                f"(len({removed}) = 0 OR "
                f"NOT list_contains({removed}, stored.{BATCH} || '/' || stored.run_id))"
            )
        return f"{rows} WHERE {' AND '.join(tests)}" if tests else rows


def copy_catalog(connection: duckdb.DuckDBPyConnection, is_of_some: bool) -> None:
    """Create all tables, views and macros of a `LakeCatalog` in an in-memory connection.

    They are copied from a file in the user's cache, because DuckDB opens a file of each table to
    define a view, and none to copy one.
    """
    catalog = _catalog(is_of_some)
    with cached("lake", _version(is_of_some), partial(_write, catalog)) as directory:
        file = sql.literal(directory / CATALOG)
        connection.execute(f"ATTACH {file} AS stored (READ_ONLY)")
        connection.execute("COPY FROM DATABASE stored TO memory")
        connection.execute("DETACH stored")
    for function in FUNCTIONS:
        connection.execute(f"DROP MACRO {function}")


@cache
def _version(is_of_some: bool) -> str:
    return sql.digest([_catalog(is_of_some).digest(), duckdb.__version__])


def _catalog(is_of_some: bool) -> LakeCatalog:
    return LakeCatalog(Path(), {sql.schema_version(): our_columns()}, is_of_some)


def _write(catalog: LakeCatalog, directory: Path) -> None:
    """Write the catalog file. To define the views, DuckDB needs a file of each table."""
    for table in kinds_of_tables():
        write_empty(table, directory / f"{table}.parquet")
    with duckdb.connect() as connection:
        file = sql.literal(directory / CATALOG)
        connection.execute(f"ATTACH {file} AS catalog")
        connection.execute("USE catalog")
        create_path(connection, directory)
        connection.execute(
            f"CREATE MACRO {FILES}(relation, transaction_id) AS "
            f"{sql.literal(directory)} || '/' || relation || '.parquet'"
        )
        for function in (REMOVED, SHOWN):
            connection.execute(f"CREATE MACRO {function}(transaction_id) AS []::VARCHAR[]")
        catalog.define(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")

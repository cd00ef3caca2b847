"""The catalog of lakes: views over the files of Delta tables. It is the same for all lakes."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import duckdb

from ingest import sql
from ingest.cache import cached
from ingest.store.derived.catalog import CATALOG, Catalog, create_path
from ingest.store.derived.index import relation_rows
from ingest.store.derived.tables import our_columns
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


class LakeCatalog(Catalog):
    """The definition of all tables, views and macros over the files that `FILES` returns."""

    def _queries(self) -> dict[str, str]:
        index = f"({_rows(RUNS, indexed_kinds())})"
        return {
            **{
                table: _rows(table, columns)
                for table, columns in sql.table_columns().items()
                if table in kinds_of_tables()
            },
            **{
                file.name: relation_rows(file.name, index)
                for file in sql.indexed()
                if file.name != RUNS
            },
        }


def copy_catalog(connection: duckdb.DuckDBPyConnection) -> None:
    """Create all tables, views and macros of a lake in an in-memory connection.

    They are copied from a file in the user's cache, because DuckDB opens a file of each table to
    define a view, and none to copy one.
    """
    with cached("lake", _version(), _write) as directory:
        file = sql.literal(directory / CATALOG)
        connection.execute(f"ATTACH {file} AS stored (READ_ONLY)")
        connection.execute("COPY FROM DATABASE stored TO memory")
        connection.execute("DETACH stored")
    connection.execute(f"DROP MACRO {FILES}")
    connection.execute(f"DROP MACRO {REMOVED}")


@cache
def _version() -> str:
    return sql.digest([_catalog().digest(), duckdb.__version__])


def _catalog() -> LakeCatalog:
    return LakeCatalog(Path(), {sql.schema_version(): our_columns()})


def _write(directory: Path) -> None:
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
        connection.execute(f"CREATE MACRO {REMOVED}(transaction_id) AS []::VARCHAR[]")
        _catalog().define(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def _rows(table: str, columns: Iterable[str]) -> str:
    """Return the query for columns of a table. Usually no run is removed, and nothing is tested."""
    removed = f"{REMOVED}(txid_current())"
    rows = (
        f"SELECT run_id, {from_lake(table, columns)} FROM read_parquet("
        f"{FILES}({sql.literal(table)}, txid_current()), hive_partitioning = false) AS stored"
    )
    if table == RUNS:
        return rows
    return (
        f"{rows} WHERE len({removed}) = 0 OR "
        f"NOT list_contains({removed}, stored.{BATCH} || '/' || stored.run_id)"
    )

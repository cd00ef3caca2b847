"""The catalog of lakes: views over the files of Delta tables. It is the same for all lakes."""

from functools import cache
from pathlib import Path

import duckdb

from ingest import sql
from ingest.cache import cached
from ingest.store.derived.catalog import CATALOG, Catalog, create_path
from ingest.store.derived.index import relation_rows
from ingest.store.derived.tables import our_columns
from ingest.store.lake.schema import INDEX, from_lake, kinds_of_tables, write_empty

FILES = "lake_files"  # the function that returns the files of a table


class LakeCatalog(Catalog):
    """The definition of all tables, views and macros over the files that `FILES` returns."""

    def _queries(self) -> dict[str, str]:
        tables = {table.name: _rows(table.name) for table in sql.tables()}
        index = f"({_rows(INDEX)})"
        return tables | {file.name: relation_rows(file.name, index) for file in sql.indexed()}


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
        _catalog().define(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def _rows(table: str) -> str:
    return (
        f"SELECT run_id, {from_lake(table)} FROM read_parquet("
        f"{FILES}({sql.literal(table)}, txid_current()), hive_partitioning = false) AS stored"
    )

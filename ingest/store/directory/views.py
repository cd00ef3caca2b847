"""Tables, views and macros in a connection, which read the files that a transaction sees."""

from collections.abc import Collection
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.directory.derived.catalog import UNSOUND, Catalog, create_path
from ingest.store.directory.derived.catalog_file import CatalogFile
from ingest.store.directory.reading.visible import VisibleFiles


def create_views(
    connection: duckdb.DuckDBPyConnection,
    store: Path,
    catalog: Catalog,
    file: CatalogFile,
    run_ids: Collection[str],
) -> None:
    """Create all tables, views and macros of a store, as `Storage.create_views` does.

    The definitions are copied from the catalog file if that is current, which is faster: to define
    a view, DuckDB opens a file of each table in the view; to copy one, it opens none.
    """
    connection.execute(f"SET disabled_optimizers = '{UNSOUND}'")
    files = VisibleFiles(store, catalog.versions, run_ids)
    if file.ensure() and (
        _copied(connection, file) or (file.write() and _copied(connection, file))
    ):
        files.define(connection)
        return
    create_path(connection, store)
    files.define(connection)
    catalog.define(connection)


def _copied(connection: duckdb.DuckDBPyConnection, file: CatalogFile) -> bool:
    """Copy the definitions from the catalog file. Return False if it cannot be read.

    It may be missing, damaged, or open for writing elsewhere.
    """
    try:
        connection.execute(f"ATTACH {sql.literal(file.path)} AS stored (READ_ONLY)")
    except duckdb.Error:
        return False
    connection.execute("COPY FROM DATABASE stored TO memory")
    connection.execute("DETACH stored")
    return True

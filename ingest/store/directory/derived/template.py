"""The files of an empty store, cached for the user. Copying them is ten times as fast."""

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import duckdb

from ingest import sql
from ingest.cache import cached
from ingest.store.directory.derived.catalog import CATALOG, Catalog, create_file_macros, create_path
from ingest.store.directory.derived.index import INDEX, index_version
from ingest.store.directory.derived.indexing import write_index
from ingest.store.directory.derived.tables import our_columns
from ingest.store.directory.files.listing import Listing
from ingest.store.directory.files.places import EMPTY, empty_directory
from ingest.store.manifest import write_files


def write_catalog(target: Path, catalog: Catalog) -> None:
    """Write a catalog as a new DuckDB file that DuckDB 1.5 and later can read."""
    with cached("catalog", _version(), _write_catalog) as directory:
        shutil.copyfile(directory / CATALOG, target)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.literal(target)} AS catalog")
        connection.execute("USE catalog")
        catalog.move(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def copy_empty(tables: Path, index: Path) -> None:
    """Create the directory `tables` with an empty file for each table, and an empty index."""
    with cached("tables", _version(), _write_empty_tables) as directory:
        tables.mkdir()
        for file in (directory / EMPTY).iterdir():
            shutil.copyfile(file, tables / file.name)
        shutil.copyfile(directory / INDEX, index)


@cache
def _version() -> str:
    return sql.digest([_empty_catalog().digest(), index_version(), duckdb.__version__])


def _empty_catalog() -> Catalog:
    """Return the catalog of an empty store without a path."""
    return Catalog(Path(), {sql.schema_version(): our_columns()})


def _write_empty_tables(directory: Path) -> None:
    (directory / EMPTY).mkdir()
    with duckdb.connect() as connection:
        for node in sql.nodes("scratch"):
            if node.name in sql.table_columns():
                connection.execute(node.ddl)
                file = sql.literal(directory / EMPTY / f"{node.name}.parquet")
                connection.execute(f"COPY {node.name} TO {file} (FORMAT parquet)")
    write_files(directory / EMPTY)
    write_index(directory / INDEX, directory, Listing())


def _write_catalog(directory: Path) -> None:
    """Write the catalog of an empty store. To define a view, DuckDB needs the store's files."""
    store = directory / "store"
    tables = empty_directory(store)
    tables.parent.mkdir(parents=True)
    copy_empty(tables, store / INDEX)
    with duckdb.connect() as connection:
        file = sql.literal(directory / CATALOG)
        connection.execute(f"ATTACH {file} AS catalog (STORAGE_VERSION 'v1.5.0')")
        connection.execute("USE catalog")
        create_path(connection, store)
        create_file_macros(connection)
        replace(_empty_catalog(), store=store).define(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")
    shutil.rmtree(store)

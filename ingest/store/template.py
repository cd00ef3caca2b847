"""An empty store, kept in the user's cache: to copy one takes a tenth of the time to make one.

$XDG_CACHE_HOME/tracehouse/<version>/     `~/.cache` where that is not set
"""

import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.catalog import CATALOG, Catalog
from ingest.store.index import INDEX, index_version
from ingest.store.indexing import write_index
from ingest.store.places import EMPTY, version_directory

UNUSED_DAYS = 30


def write_catalog(target: Path, catalog: Catalog) -> None:
    """Writes a catalog as a new DuckDB file; DuckDB 1.5 can read it."""
    shutil.copyfile(_template() / CATALOG, target)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.literal(target)} AS catalog")
        connection.execute("USE catalog")
        catalog.move(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def copy_empty_tables(target: Path) -> None:
    """Makes the directory `target` with a file for each table, without rows."""
    target.mkdir()
    for file in (version_directory(_template(), sql.schema_version()) / EMPTY).iterdir():
        shutil.copyfile(file, target / file.name)


def copy_empty_index(target: Path) -> None:
    """Writes the index of a store without runs."""
    shutil.copyfile(_template() / INDEX, target)


@cache
def _template() -> Path:
    """An empty store of this version, with a catalog that is not its own."""
    catalog = Catalog(Path(), {sql.schema_version(): sql.table_columns()})
    name = sql.digest([catalog.digest(), index_version(), duckdb.__version__])
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tracehouse"
    try:
        if (cache / name).is_dir():
            os.utime(cache / name)
            return cache / name
        cache.mkdir(parents=True, exist_ok=True)
        _remove_unused(cache)
        made = Path(tempfile.mkdtemp(dir=cache, prefix=".new-"))
    except OSError:  # no home, or one that cannot be written: for this process alone
        made = Path(tempfile.mkdtemp(prefix="tracehouse-"))
        _write(made)
        return made
    _write(made)
    with suppress(OSError):  # another process was faster
        made.rename(cache / name)
        return cache / name
    shutil.rmtree(made)
    return cache / name


def _write(store: Path) -> None:
    empty = version_directory(store, sql.schema_version()) / EMPTY
    empty.mkdir(parents=True)
    with duckdb.connect() as connection:
        for node in sql.nodes("scratch"):
            if node.name in sql.table_columns():
                connection.execute(node.ddl)
                file = sql.literal(empty / f"{node.name}.parquet")
                connection.execute(f"COPY {node.name} TO {file} (FORMAT parquet)")
    write_index(store / INDEX, store, {})
    with duckdb.connect() as connection:
        file = sql.literal(store / CATALOG)
        connection.execute(f"ATTACH {file} AS catalog (STORAGE_VERSION 'v1.5.0')")
        connection.execute("USE catalog")
        Catalog(store, {sql.schema_version(): sql.table_columns()}).define(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def _remove_unused(cache: Path) -> None:
    for path in cache.iterdir():
        if path.stat().st_mtime < time.time() - UNUSED_DAYS * 86_400:
            shutil.rmtree(path, ignore_errors=True)

"""What an empty store holds, kept in the user's cache: to copy it takes a tenth of the time.

$XDG_CACHE_HOME/tracehouse/<version>-tables/     `~/.cache` where that is not set
$XDG_CACHE_HOME/tracehouse/<version>-catalog/
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
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
    shutil.copyfile(_kept("catalog", _write_catalog) / CATALOG, target)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.literal(target)} AS catalog")
        connection.execute("USE catalog")
        catalog.move(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def copy_empty_tables(target: Path) -> None:
    """Makes the directory `target` with a file for each table, without rows."""
    target.mkdir()
    for file in (_kept("tables", _write_tables) / EMPTY).iterdir():
        shutil.copyfile(file, target / file.name)


def copy_empty_index(target: Path) -> None:
    """Writes the index of a store without runs."""
    shutil.copyfile(_kept("tables", _write_tables) / INDEX, target)


@cache
def _kept(what: str, write: Callable[[Path], None]) -> Path:
    """The directory that `write` fills, which is the same for all stores of this version."""
    version = sql.digest([_empty().digest(), index_version(), duckdb.__version__])
    name = f"{version}-{what}"
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
        write(made)
        return made
    write(made)
    with suppress(OSError):  # another process was faster
        made.rename(cache / name)
        return cache / name
    shutil.rmtree(made)
    return cache / name


def _empty() -> Catalog:
    """The catalog of a store that is nowhere."""
    return Catalog(Path(), {sql.schema_version(): sql.table_columns()})


def _write_tables(directory: Path) -> None:
    (directory / EMPTY).mkdir()
    with duckdb.connect() as connection:
        for node in sql.nodes("scratch"):
            if node.name in sql.table_columns():
                connection.execute(node.ddl)
                file = sql.literal(directory / EMPTY / f"{node.name}.parquet")
                connection.execute(f"COPY {node.name} TO {file} (FORMAT parquet)")
    write_index(directory / INDEX, directory, {})


def _write_catalog(directory: Path) -> None:
    """The views are defined over an empty store: to define one, DuckDB looks for its files."""
    store = directory / "store"
    tables = version_directory(store, sql.schema_version()) / EMPTY
    tables.parent.mkdir(parents=True)
    copy_empty_tables(tables)
    copy_empty_index(store / INDEX)
    with duckdb.connect() as connection:
        file = sql.literal(directory / CATALOG)
        connection.execute(f"ATTACH {file} AS catalog (STORAGE_VERSION 'v1.5.0')")
        connection.execute("USE catalog")
        replace(_empty(), store=store).define(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")
    shutil.rmtree(store)


def _remove_unused(cache: Path) -> None:
    for path in cache.iterdir():
        if path.stat().st_mtime < time.time() - UNUSED_DAYS * 86_400:
            shutil.rmtree(path, ignore_errors=True)

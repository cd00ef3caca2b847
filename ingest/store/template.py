"""The files of an empty store, cached for the user. Copying them is ten times as fast.

$XDG_CACHE_HOME/tracehouse/<version>-tables/     `~/.cache` if the variable is not set
$XDG_CACHE_HOME/tracehouse/<version>-catalog/
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from ingest import sql
from ingest.store.catalog import CATALOG, Catalog
from ingest.store.index import INDEX, index_version
from ingest.store.indexing import write_index
from ingest.store.places import EMPTY, version_directory

FILES = "files.json"  # the sizes of the other files
UNUSED_DAYS = 30


def write_catalog(target: Path, catalog: Catalog) -> None:
    """Write a catalog as a new DuckDB file that DuckDB 1.5 and later can read."""
    with _cached("catalog", _write_catalog) as cached:
        shutil.copyfile(cached / CATALOG, target)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.literal(target)} AS catalog")
        connection.execute("USE catalog")
        catalog.move(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def copy_empty(tables: Path, index: Path) -> None:
    """Create the directory `tables` with an empty file for each table, and an empty index."""
    with _cached("tables", _write_empty_tables) as cached:
        tables.mkdir()
        for file in (cached / EMPTY).iterdir():
            shutil.copyfile(file, tables / file.name)
        shutil.copyfile(cached / INDEX, index)


@contextmanager
def _cached(name: str, write: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a directory that `write` filled, now or earlier.

    Its content is the same for all stores of this version.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tracehouse"
    cached = cache / f"{_version()}-{name}"
    if _is_intact(cached):
        with suppress(OSError):
            os.utime(cached)
        yield cached
        return
    with TemporaryDirectory(prefix="tracehouse-") as directory:
        new = Path(directory) / name
        new.mkdir()
        write(new)
        (new / FILES).write_text(json.dumps(_sizes(new)), encoding="utf-8")
        with suppress(OSError):  # no home directory, or a full disk
            _add_to_cache(new, cached)
        yield new


def _add_to_cache(new: Path, cached: Path) -> None:
    """Copy a directory into the cache atomically, and remove cached directories not used lately."""
    cache = cached.parent
    cache.mkdir(parents=True, exist_ok=True)
    for path in cache.iterdir():
        if path.stat().st_mtime < time.time() - UNUSED_DAYS * 86_400:
            shutil.rmtree(path, ignore_errors=True)
    with TemporaryDirectory(prefix=".new-", dir=cache) as directory:
        shutil.copytree(new, Path(directory) / "new")
        with suppress(FileNotFoundError):
            cached.rename(Path(directory) / "damaged")
        (Path(directory) / "new").rename(cached)


@cache
def _version() -> str:
    return sql.digest([_empty_catalog().digest(), index_version(), duckdb.__version__])


def _is_intact(cached: Path) -> bool:
    """Return whether all files have their sizes. Users and power cuts may truncate caches."""
    try:
        return bool(_sizes(cached) == json.loads((cached / FILES).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False


def _sizes(directory: Path) -> dict[str, int]:
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != FILES)
    return {str(file.relative_to(directory)): file.stat().st_size for file in files}


def _empty_catalog() -> Catalog:
    """Return the catalog of an empty store without a path."""
    return Catalog(Path(), {sql.schema_version(): sql.table_columns()})


def _write_empty_tables(directory: Path) -> None:
    (directory / EMPTY).mkdir()
    with duckdb.connect() as connection:
        for node in sql.nodes("scratch"):
            if node.name in sql.table_columns():
                connection.execute(node.ddl)
                file = sql.literal(directory / EMPTY / f"{node.name}.parquet")
                connection.execute(f"COPY {node.name} TO {file} (FORMAT parquet)")
    write_index(directory / INDEX, directory, {})


def _write_catalog(directory: Path) -> None:
    """Write the catalog of an empty store. To define a view, DuckDB needs the store's files."""
    store = directory / "store"
    tables = version_directory(store, sql.schema_version()) / EMPTY
    tables.parent.mkdir(parents=True)
    copy_empty(tables, store / INDEX)
    with duckdb.connect() as connection:
        file = sql.literal(directory / CATALOG)
        connection.execute(f"ATTACH {file} AS catalog (STORAGE_VERSION 'v1.5.0')")
        connection.execute("USE catalog")
        replace(_empty_catalog(), store=store).define(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")
    shutil.rmtree(store)

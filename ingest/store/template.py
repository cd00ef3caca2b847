"""What an empty store holds, kept in the user's cache: to copy it takes a tenth of the time.

$XDG_CACHE_HOME/tracehouse/<version>-tables/     `~/.cache` where that is not set
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

FILES = "files.json"  # the sizes of the others
UNUSED_DAYS = 30


def write_catalog(target: Path, catalog: Catalog) -> None:
    """Writes a catalog as a new DuckDB file; DuckDB 1.5 can read it."""
    with _kept("catalog", _write_catalog) as kept:
        shutil.copyfile(kept / CATALOG, target)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {sql.literal(target)} AS catalog")
        connection.execute("USE catalog")
        catalog.move(connection)
        connection.execute("USE memory")
        connection.execute("DETACH catalog")


def copy_empty(tables: Path, index: Path) -> None:
    """Makes the directory `tables` with a file for each table, and an index, without rows."""
    with _kept("tables", _write_empty_tables) as kept:
        tables.mkdir()
        for file in (kept / EMPTY).iterdir():
            shutil.copyfile(file, tables / file.name)
        shutil.copyfile(kept / INDEX, index)


@contextmanager
def _kept(what: str, write: Callable[[Path], None]) -> Iterator[Path]:
    """The directory that `write` fills, which is the same for all stores of this version."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tracehouse"
    kept = cache / f"{_version()}-{what}"
    if _is_whole(kept):
        with suppress(OSError):
            os.utime(kept)
        yield kept
        return
    with TemporaryDirectory(prefix="tracehouse-") as directory:
        made = Path(directory) / what
        made.mkdir()
        write(made)
        (made / FILES).write_text(json.dumps(_sizes(made)), encoding="utf-8")
        with suppress(OSError):  # no home, or a full one
            _keep(made, kept)
        yield made


def _keep(made: Path, kept: Path) -> None:
    """Copies a directory into the cache, as a whole, and clears what is not used any more."""
    cache = kept.parent
    cache.mkdir(parents=True, exist_ok=True)
    for path in cache.iterdir():
        if path.stat().st_mtime < time.time() - UNUSED_DAYS * 86_400:
            shutil.rmtree(path, ignore_errors=True)
    with TemporaryDirectory(prefix=".new-", dir=cache) as directory:
        shutil.copytree(made, Path(directory) / "new")
        with suppress(FileNotFoundError):
            kept.rename(Path(directory) / "damaged")
        (Path(directory) / "new").rename(kept)


@cache
def _version() -> str:
    return sql.digest([_empty_catalog().digest(), index_version(), duckdb.__version__])


def _is_whole(kept: Path) -> bool:
    """Whether all files are there, as they were written: people and power cuts empty caches."""
    try:
        return bool(_sizes(kept) == json.loads((kept / FILES).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False


def _sizes(directory: Path) -> dict[str, int]:
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != FILES)
    return {str(file.relative_to(directory)): file.stat().st_size for file in files}


def _empty_catalog() -> Catalog:
    """The catalog of a store that is nowhere."""
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
    """The views are defined over an empty store: to define one, DuckDB looks for its files."""
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

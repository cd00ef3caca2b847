"""Creation of the files that every store of this version has."""

import os
from pathlib import Path

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.store.catalog import CATALOG, STAMP
from ingest.store.index import INDEX
from ingest.store.locking import LOCK, PREFIX, locked, sync, sync_names, work_directory
from ingest.store.places import EMPTY, RUNS, stored_runs, version_directory
from ingest.store.template import copy_empty


def create(store: Path) -> None:
    """Create the missing files and directories of a store of this version.

    If the store exists but cannot be written, it stays as it is, because it can still be read.
    Raise StoreError if there is no store and none can be created.
    """
    empty = version_directory(store, sql.schema_version()) / EMPTY
    exists = (store / RUNS).is_dir()
    if _is_complete(empty):
        return
    if any(sign in str(store) for sign in "[]*?="):
        raise StoreError(f"{store}: a store's path cannot contain any of [ ] * ? =")
    try:
        if not exists and store.exists() and not all(map(_is_ours, store.iterdir())):
            raise StoreError(f"{store}: the directory is not empty and not a store")
        empty.parent.mkdir(parents=True, exist_ok=True)
        with work_directory(store) as work:
            copy_empty(work / "empty", work / INDEX)
            sync(work / "empty")
            with locked(store):
                if not _is_complete(empty):
                    if empty.exists():
                        empty.rename(work / "damaged")
                    (work / "empty").rename(empty)
                    sync_names(empty.parent)
                if not exists and not stored_runs(store):
                    os.replace(work / INDEX, store / INDEX)
    except (OSError, duckdb.Error, StoreError) as error:
        if exists:
            return
        if isinstance(error, StoreError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"{store}: cannot create a store: {reason}") from error


def _is_complete(empty: Path) -> bool:
    """Return whether a directory has a file for each table."""
    return all((empty / f"{table.name}.parquet").exists() for table in sql.tables())


def _is_ours(entry: Path) -> bool:
    """Return whether an entry belongs to a store, which another process may be creating."""
    return entry.name.startswith(PREFIX) or entry.name in (RUNS, LOCK, CATALOG, STAMP, INDEX)

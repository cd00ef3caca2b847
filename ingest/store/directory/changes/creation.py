"""Creation of the files that every store of this version has."""

import os
from pathlib import Path

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.store.directory.changes.commits import commit
from ingest.store.directory.derived.catalog import CATALOG, STAMP
from ingest.store.directory.derived.index import INDEX, INDEXES, index_path
from ingest.store.directory.derived.template import copy_empty
from ingest.store.directory.files.detection import find_fault
from ingest.store.directory.files.leases import READERS
from ingest.store.directory.files.listing import LISTING, Listing
from ingest.store.directory.files.locking import (
    LOCK,
    PREFIX,
    locked,
    sync,
    sync_names,
    work_directory,
)
from ingest.store.directory.files.modes import make_directories, share
from ingest.store.directory.files.places import REVISIONS, RUNS, empty_directory
from ingest.store.place import FORBIDDEN
from ingest.units import as_utf8


def create(store: Path, is_suspect: bool = False) -> None:
    """Create the missing or damaged files and directories of a store of this version.

    All files of the empty tables are read to check them if the store `is_suspect`. If the store
    exists but cannot be written, it stays as it is, because it can still be read. Raise StoreError
    if there is no store and none can be created.
    """
    empty = empty_directory(store)
    exists = (store / RUNS).is_dir()
    if find_fault(empty, sql.schema_version(), (), is_suspect) is None:
        return
    _check_path(store)
    try:
        if not exists and store.exists() and not all(map(_is_ours, store.iterdir())):
            raise StoreError(f"{store}: the directory is not empty and not a store")
        (store / RUNS).mkdir(parents=True, exist_ok=True)
        make_directories(store, empty.parent)
        with work_directory(store) as work:
            copy_empty(work / "empty", work / INDEX)
            sync(work / "empty")
            share(store, work / "empty", *(work / "empty").iterdir())
            with locked(store):
                if find_fault(empty, sql.schema_version(), (), is_suspect):
                    if empty.exists():
                        empty.rename(work / "damaged")
                    (work / "empty").rename(empty)
                    sync_names(empty.parent)
                if not exists and not (store / LISTING).exists():
                    os.replace(work / INDEX, index_path(store, Listing()))
                    commit(store, work, None, Listing())
    except (OSError, duckdb.Error, StoreError) as error:
        if exists:
            return
        if isinstance(error, StoreError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"{store}: cannot create a store: {reason}") from error


def _check_path(store: Path) -> None:
    """Raise StoreError if DuckDB would not read the path as it is written."""
    if as_utf8(str(store)) != str(store):
        raise StoreError(f"{as_utf8(str(store))}: a store's path must be UTF-8")
    if any(sign in str(store) for sign in FORBIDDEN):
        raise StoreError(f"{store}: a store's path cannot contain any of {' '.join(FORBIDDEN)}")


def _is_ours(entry: Path) -> bool:
    """Return whether an entry belongs to a store, which another process may be creating."""
    names = (RUNS, REVISIONS, READERS, LOCK, CATALOG, STAMP, INDEX, LISTING)
    return entry.name.startswith((PREFIX, INDEXES)) or entry.name in names

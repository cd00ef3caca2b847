"""Stores for tests: one that is used again and again, and a lock for those that processes share."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ingest

ENTRIES = {".lock", "catalog.duckdb", "index.parquet", "runs", "schema"}  # of a store at rest


def emptied(path: Path) -> ingest.Store:
    """The store in `path`, of which the runs are removed; a new one where it is not whole."""
    if path.is_dir():
        entries = {entry.name for entry in path.iterdir()}
        if entries != ENTRIES or len(list((path / "runs").iterdir())) != 1:  # a single version
            shutil.rmtree(path)
    store = ingest.Store(path)
    for run_id in store.run_ids():
        shutil.rmtree(store.run_path(run_id))
    store.refresh()
    return store


@contextmanager
def locked(file: Path, wait: bool = True) -> Iterator[bool]:
    """Holds the lock that `file` stands for; without `wait`, only if no other process does."""
    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True

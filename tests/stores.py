"""Stores for tests: one that is used again and again, and a lock for those that processes share."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ingest

FIRST = {".lock", "index.parquet", "runs"}
READ = FIRST | {"catalog.duckdb", "schema"}  # once runs were added or read


def emptied(path: Path) -> ingest.Store:
    """The store in `path`, of which the runs are removed; a new one where it is not whole."""
    if path.is_dir() and not (is_at_rest(path) and len(list((path / "runs").iterdir())) == 1):
        shutil.rmtree(path)  # versions of the tables are more than one, or something is left
    store = ingest.Store(path)
    for run_id in store.run_ids():
        shutil.rmtree(store.run_path(run_id))
    store.refresh()
    return store


def is_at_rest(store: Path) -> bool:
    """Whether nothing but what belongs to a store is in its directory."""
    return {entry.name for entry in store.iterdir()} in (FIRST, READ)


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

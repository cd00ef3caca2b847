"""Stores for tests: a store that tests reuse, and a lock for stores that processes share."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ingest

INDEX = "index.parquet"
FIRST = {".lock", INDEX, "runs"}
READ = FIRST | {"catalog.duckdb", "schema"}  # files of a store after runs were added or read


def emptied(path: Path) -> ingest.Store:
    """Return the store in `path` without its runs. Replace it if it is not intact.

    The index of the empty store is kept next to it: to write one takes longer than the rest.
    """
    empty = path.with_name(f"{path.name}.empty_index")
    if path.is_dir() and not (is_at_rest(path) and len(list((path / "runs").iterdir())) == 1):
        shutil.rmtree(path)  # there are several versions of the tables, or leftover files
    store = ingest.Store(path)
    if run_ids := store.run_ids():
        for run_id in run_ids:
            shutil.rmtree(store.run_path(run_id))
        if empty.exists():
            shutil.copyfile(empty, path / INDEX)
        store.refresh()
    shutil.copyfile(path / INDEX, empty)
    return store


def is_at_rest(store: Path) -> bool:
    """Return whether the directory contains only the files of a store at rest."""
    return {entry.name for entry in store.iterdir()} in (FIRST, READ)


@contextmanager
def locked(file: Path, wait: bool = True) -> Iterator[bool]:
    """Lock `file`. Yield whether this process has the lock. With `wait`, wait for it."""
    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True

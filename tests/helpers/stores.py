"""Stores for tests: a store that tests reuse, and a lock for stores that processes share."""

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ingest

REVISIONS = "revisions"
REVISION = "revisions/*/*"
CURRENT = f"{REVISION}/current"
FIRST = {".lock", "index.parquet", "listing.json", "runs"}
LATER = {"catalog.duckdb", "schema", REVISIONS, ".readers"}  # after runs were added or read


def emptied(path: Path) -> ingest.Store:
    """Return the store in `path` without its runs. Replace it if it is not intact.

    The files of the empty store are kept next to it: to write its index takes longer than the rest.
    """
    empty = path.with_name(f"{path.name}.empty")
    if path.is_dir() and not (is_at_rest(path) and len(list((path / "runs").iterdir())) == 1):
        shutil.rmtree(path)  # there are several versions of the tables, or leftover files
    if not empty.exists():
        ingest.Store(empty)
    if path.is_dir():
        for file in path.glob("index-*.parquet"):
            file.unlink()
        shutil.rmtree(path / REVISIONS, ignore_errors=True)
        for file in (empty / "listing.json", *empty.glob("index-*.parquet")):
            shutil.copy(file, path)
    return ingest.Store(path)


def is_at_rest(store: Path) -> bool:
    """Return whether the directory contains only the files of a store at rest.

    Each revision is in use, and marked so.
    """
    names = {entry.name for entry in store.iterdir()}
    if not names >= FIRST:
        return False
    names -= {file.name for file in store.glob("index-*.parquet")}
    listed = {str(Path(run["directory"]).parent) for run in listing(store)["runs"]}
    revisions = {str(path.parent.relative_to(store)) for path in store.glob(CURRENT)}
    names |= {path.name for path in store.glob(REVISION) if not (path / "current").exists()}
    return names <= FIRST | LATER and revisions == listed


def listing(store: Path) -> dict[str, Any]:
    """Return the listing of a store."""
    return dict(json.loads((store / "listing.json").read_text()))


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

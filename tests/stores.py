"""Stores for tests: new ones without the time that it takes to make one, shared by processes."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ingest

ENTRIES = {".lock", "catalog.duckdb", "runs", "schema"}  # of a store at rest


class Stores:
    """Makes stores by copying an empty one, which takes longer to make than a small run to add."""

    def __init__(self, shared: Path) -> None:
        self._template = shared / "template"

    def new(self, path: Path) -> ingest.Store:
        """A store without runs in `path`, where there is none."""
        with locked(self._template.with_suffix(".lock")):
            if not self._template.exists():
                made = ingest.Store(self._template.with_suffix(".part"))
                made.path.rename(self._template)
        shutil.copytree(self._template, path)
        return ingest.Store(path)

    def emptied(self, path: Path) -> ingest.Store:
        """The store in `path`, of which the runs are removed; a new one where it is not whole."""
        if not path.is_dir() or {entry.name for entry in path.iterdir()} != ENTRIES:
            shutil.rmtree(path, ignore_errors=True)
            return self.new(path)
        store = ingest.Store(path)
        for run_id in store.run_ids():
            shutil.rmtree(store.runs_path / f"run_id={run_id}")
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

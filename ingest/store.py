"""The store: a directory of immutable runs, each a directory of Parquet files.

    <store>/runs/run_id=<id>/<table>.parquet
    <store>/catalog.duckdb

A run is written beside the others and appears by one rename; it goes by one rename too. The Hive
partition for NULL holds every table without rows: it gives the schema to an empty store.
"""

import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.catalog import write_catalog
from ingest.errors import IngestError, StoreError
from ingest.run import RunLabels, write_run
from ingest.rundir import RunInput, read_run_input

EMPTY_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class Store:
    """A store in `path`, created when there is none."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser().absolute()
        self.runs_path = self.path / "runs"
        if not (self.runs_path / f"run_id={EMPTY_PARTITION}").is_dir():
            self._create()

    def run_ids(self) -> list[str]:
        """The ids of all runs, sorted."""
        ids = (p.name.removeprefix("run_id=") for p in self.runs_path.glob("run_id=*"))
        return sorted(run_id for run_id in ids if run_id != EMPTY_PARTITION)

    def find(self, reference: str) -> str:
        """The run that `reference` names: an id, a unique beginning of one, or a run's name.

        Raises StoreError when no run or more than one fits.
        """
        ids = self.run_ids()
        if reference in ids:
            return reference
        fitting = [i for i in ids if i.startswith(slug(reference)) or i.startswith(reference)]
        exact = [i for i in fitting if i.rpartition("-")[0] == slug(reference)]
        candidates = exact or fitting
        if not candidates:
            raise StoreError(f"{reference}: no such run in {self.path}; see `ingest list`")
        if len(candidates) > 1:
            listed = ", ".join(candidates[:5])
            raise StoreError(f"{reference}: {len(candidates)} runs fit: {listed}")
        return candidates[0]

    def add(
        self,
        path: str | Path,
        labels: RunLabels | None = None,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[str, bool]:
        """Ingests a run directory or file; returns the run's id and whether it is new.

        `progress` hears of each block of JSON read, in bytes. Raises ProfileError for input that
        cannot be read; the store is then as it was.
        """
        labels = labels or RunLabels()
        run = read_run_input(Path(path))
        if existing := self._with_digest(run.digest):
            return existing, False
        run_id = f"{slug(labels.name or run.name)}-{run.digest}"
        with self._workplace() as workplace:
            directory = workplace / "run"
            directory.mkdir()
            write_run(run, labels, directory, threads, progress)
            try:
                directory.rename(self.runs_path / f"run_id={run_id}")
            except OSError:
                if run_id in self.run_ids():  # somebody else added it meanwhile
                    return run_id, False
                raise
        return run_id, True

    def remove(self, run_id: str) -> None:
        """Removes a run, whole and at once. Raises StoreError when there is none."""
        directory = self.runs_path / f"run_id={run_id}"
        if run_id not in self.run_ids():
            raise StoreError(f"{run_id}: no such run in {self.path}")
        with self._workplace() as workplace:
            directory.rename(workplace / "removed")

    def _with_digest(self, digest: str) -> str | None:
        return next((i for i in self.run_ids() if i.endswith(f"-{digest}")), None)

    def _create(self) -> None:
        if self.path.exists() and not self.runs_path.is_dir() and any(self.path.iterdir()):
            raise StoreError(f"{self.path}: not a store, and not empty")
        try:
            self.runs_path.mkdir(parents=True, exist_ok=True)
            with self._workplace() as workplace:
                directory = workplace / "empty"
                directory.mkdir()
                write_run(RunInput(self.path, []), RunLabels(), directory)
                partition = self.runs_path / f"run_id={EMPTY_PARTITION}"
                if not partition.exists():
                    directory.rename(partition)
            write_catalog(self.path)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot create a store: {error.strerror}") from error

    @contextmanager
    def _workplace(self) -> Iterator[Path]:
        """A directory of the store for work in progress, gone afterwards."""
        workplace = self.path / f".work-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        workplace.mkdir()
        try:
            yield workplace
        finally:
            shutil.rmtree(workplace, ignore_errors=True)


def slug(name: str) -> str:
    """`name` as a part of a path: lower-case letters, digits, dots and dashes."""
    return re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-.")[:80] or "run"


def default_store() -> Path:
    """The store of `TRACEHOUSE_STORE`, else `./store`."""
    return Path(os.environ.get("TRACEHOUSE_STORE") or "store")


__all__ = ["IngestError", "Store", "default_store", "slug"]

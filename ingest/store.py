"""The store: a directory of immutable runs, each a directory of Parquet files.

    <store>/runs/run_id=<id>/<table>.parquet
    <store>/catalog.duckdb
    <store>/schema          which columns the tables have, and which views the catalog

A run is written beside the others and appears by one rename; it goes by one rename too. One more
partition holds every table without rows: it gives the schema to an empty store.
"""

import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from ingest import sql
from ingest.catalog import CATALOG, STAMP, catalog_digest, digest, write_catalog
from ingest.errors import StoreError
from ingest.run import RunLabels, write_run
from ingest.rundir import RunInput, read_run_input
from ingest.source import Source

EMPTY_PARTITION = "~empty"  # sorts last: DuckDB guesses a table's size from its first file


@dataclass(frozen=True)
class Added:
    """What became of one path: its run, whether that is new, and the files it was read from."""

    run_id: str
    is_new: bool
    seconds: float
    sources: list[Source]

    def as_dict(self, path: Path) -> dict[str, Any]:
        """The same as JSON can say it."""
        return {
            "path": str(path),
            "run_id": self.run_id,
            "is_new": self.is_new,
            "seconds": round(self.seconds, 3),
            "sources": [source.as_dict() for source in self.sources],
        }


class Store:
    """A store in `path`, created when there is none."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser().absolute()
        self.runs_path = self.path / "runs"
        try:
            schema, _, catalog = (self.path / STAMP).read_text().partition(" ")
        except (OSError, UnicodeDecodeError):
            self._create()
            return
        if schema != _schema():
            raise StoreError(
                f"{self.path}: written by another version of tracehouse; "
                "add the runs to a new store"
            )
        if catalog != catalog_digest(self.path):  # moved, or this version has other views
            with suppress(OSError, duckdb.IOException):  # a store that is only read keeps its own
                self._write_catalog()

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
        named = [run_id for run_id in ids if run_id.rpartition("-")[0] == slug(reference)]
        begun = [run_id for run_id in ids if reference and run_id.startswith(reference)]
        candidates = (reference and named) or begun
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
    ) -> Added:
        """Ingests a run directory or file as a run.

        `progress` hears how many bytes of the files on disk have been read so far. Raises
        ProfileError for input that cannot be read; the store is then as it was.
        """
        began = time.perf_counter()
        labels = labels or RunLabels()
        run = read_run_input(Path(path))
        if existing := self._with_digest(run.digest):
            return Added(existing, False, time.perf_counter() - began, [])
        run_id = f"{slug(labels.name or run.name)}-{run.digest}"
        with self._workplace() as workplace:
            directory = workplace / "run"
            directory.mkdir()
            write_run(run, labels, directory, threads, progress)
            if existing := self._with_digest(run.digest):  # somebody else was faster
                return Added(existing, False, time.perf_counter() - began, [])
            try:
                directory.rename(self.runs_path / f"run_id={run_id}")
                is_new = True
            except OSError:
                if run_id not in self.run_ids():
                    raise
                is_new = False
        return Added(run_id, is_new, time.perf_counter() - began, run.sources)

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
        if any(sign in str(self.path) for sign in "[]*?="):
            raise StoreError(f"{self.path}: a store's path cannot hold any of [ ] * ? =")
        try:
            if self.path.exists() and not all(map(self._is_ours, self.path.iterdir())):
                raise StoreError(f"{self.path}: not a store, and not empty")
            self.runs_path.mkdir(parents=True, exist_ok=True)
            with self._workplace() as workplace:
                directory = workplace / "empty"
                directory.mkdir()
                write_run(RunInput(self.path, []), RunLabels(), directory)
                partition = self.runs_path / f"run_id={EMPTY_PARTITION}"
                if not partition.exists():
                    directory.rename(partition)
            self._write_catalog()
        except OSError as error:
            raise StoreError(f"{self.path}: cannot create a store: {error.strerror}") from error

    def _is_ours(self, entry: Path) -> bool:
        """Whether another process that creates this store may have made the entry."""
        if entry == self.runs_path:
            return all(run.name.startswith("run_id=") for run in entry.iterdir())
        return entry.name.startswith((".work-", f".{CATALOG}", f".{STAMP}", CATALOG))

    def _write_catalog(self) -> None:
        write_catalog(self.path)
        temporary = self.path / f".{STAMP}-{uuid.uuid4().hex[:8]}"
        temporary.write_text(f"{_schema()} {catalog_digest(self.path)}")
        os.replace(temporary, self.path / STAMP)

    @contextmanager
    def _workplace(self) -> Iterator[Path]:
        """A directory of the store for work in progress, gone afterwards."""
        workplace = self.path / f".work-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        try:
            workplace.mkdir()
        except OSError as error:
            raise StoreError(f"{self.path}: cannot write: {error.strerror}") from error
        try:
            yield workplace
        finally:
            shutil.rmtree(workplace, ignore_errors=True)


def _schema() -> str:
    return digest(f"{t.name} {list(t.documentation.columns)}" for t in sql.tables())


def slug(name: str) -> str:
    """`name` as a part of a path: lower-case letters, digits, dots and dashes."""
    return re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-.")[:80] or "run"


def default_store() -> Path:
    """The store of `TRACEHOUSE_STORE`, else `./store`."""
    return Path(os.environ.get("TRACEHOUSE_STORE") or "store")

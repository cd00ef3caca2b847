"""The store: a directory of immutable runs, each a directory of Parquet files.

    <store>/runs/<version>/run_id=<id>/<table>.parquet     tables with rows, and a manifest
    <store>/index.parquet      derived: the columns that are needed from all runs
    <store>/catalog.duckdb     derived: the views
    <store>/schema             digest of the catalog's definitions

A run is written to a separate directory and added by one rename. One rename removes it. Opening
the store updates the index. Adding or reading runs updates the catalog.
"""

import os
import time
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.formats import FORMATS, Format, Source
from ingest.inputs import RunInput, read_run_input
from ingest.pipeline import AddOptions, utc_now, write_run
from ingest.store import references
from ingest.store.catalog import CATALOG, STAMP, catalog_of
from ingest.store.creation import create
from ingest.store.faults import Fault
from ingest.store.index import INDEX, Entry, read_index
from ingest.store.indexing import read_entries, write_index
from ingest.store.locking import PREFIX, cause, locked, sweep, sync, sync_names, work_directory
from ingest.store.manifest import Manifest, checksums
from ingest.store.places import (
    EMPTY,
    RUNS,
    run_directory,
    set_aside,
    stored_runs,
    version_directory,
    versions,
)
from ingest.store.template import write_catalog
from ingest.units import as_utf8


@dataclass(frozen=True)
class Added:
    """The outcome of adding a path: its run, whether that is new, and the files that were read."""

    run_id: str
    is_new: bool
    seconds: float
    sources: list[Source]

    def as_dict(self, path: Path) -> dict[str, Any]:
        """Return the outcome for JSON."""
        return {
            "path": as_utf8(str(path)),
            "run_id": self.run_id,
            "is_new": self.is_new,
            "seconds": round(self.seconds, 3),
            "sources": [source.as_dict() for source in self.sources],
        }


class Store:
    """The store in the directory `path`. It is created if it does not exist.

    Any number of processes may add, remove and read runs at once, and each may be killed at any
    time. The constructor raises StoreError if the store can be neither opened nor created.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser().absolute()
        with self._reading():
            create(self.path)
        if any(self.path.glob(f"{PREFIX}*")):
            self.sweep()
        self.refresh()

    def refresh(self, suspects: Container[str] = ()) -> None:
        """List the runs again, and update the index.

        All files of the runs `suspects` are read to check whether they are intact. If the store
        cannot be written, the runs are read without the derived files.
        """
        with self._reading():
            self._runs = stored_runs(self.path)
            known = read_index(self.path / INDEX)
        if self._is_current(known) and not suspects:
            self._entries = known or {}
        else:
            try:
                with self.work_directory() as work, locked(self.path):
                    self._runs = stored_runs(self.path)
                    self._entries = self._write_index(work, suspects=suspects)
                known = self._entries
            except StoreError:
                self._entries = read_entries(self.path, self._runs.values(), suspects)
        is_indexed = self._is_current(known)
        self.catalog = catalog_of(self.path, self._runs.values(), self.faults(), is_indexed)
        self.has_catalog = self._stamp() == self.catalog.digest()

    @property
    def state(self) -> str:
        """A digest that changes whenever a run is added, removed or changed."""
        return sql.digest(
            f"{run.run_id} {run.version} {run.changed_ns}" for run in self._runs.values()
        )

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, sorted, including those that cannot be read."""
        with self._reading():
            return list(stored_runs(self.path))

    def faults(self) -> dict[str, Fault]:
        """Return the fault of each run that cannot be read, by run id."""
        return {run_id: entry.fault for run_id, entry in self._entries.items() if entry.fault}

    def find(self, reference: str) -> str:
        """Return the id of the run that an id, a unique beginning of an id, or a name refers to.

        Raise StoreError if `reference` matches no run or several, or if the run cannot be read.
        """
        run_id = references.find(self.path, self._names(), reference)
        if fault := self.faults().get(run_id):
            raise StoreError(f"{run_id}: {fault.text}")
        return run_id

    def find_exactly(self, reference: str) -> str:
        """Return the id of the run that a full id or a name refers to.

        The run may be unreadable. Raise StoreError if `reference` matches no run or several.
        """
        return references.find_exactly(self.path, self._names(), reference)

    def run_path(self, run_id: str) -> Path:
        """Return the directory of a run. Raise StoreError if there is no such run."""
        with self._reading():
            if run := stored_runs(self.path).get(run_id):
                return run.directory
        raise StoreError(f"{run_id}: no such run in {self.path}")

    def add(
        self,
        path: str | Path,
        options: AddOptions | None = None,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
        formats: Sequence[Format] = FORMATS,
    ) -> Added:
        """Add a run directory or file as a run.

        Each file is read with the first of the `formats` that recognises it. `threads` is the
        number of threads to use, None for all processors. `progress` is called with the number of
        bytes read so far, of the files on disk. Raise ProfileError if the input cannot be read,
        and StoreError if the store cannot be written. The store is then unchanged.
        """
        began = time.perf_counter()
        options = (options or AddOptions()).without_secrets()
        with self.work_directory() as work, self._writing_catalog():
            run = read_run_input(Path(path), formats)
            if existing := self._with_content(run):
                return Added(existing, False, time.perf_counter() - began, [])
            directory, row = work / "run", work / "index_row.parquet"
            directory.mkdir()
            added_at = utc_now()
            name = write_run(run, options, directory, row, threads, progress, added_at)
            Manifest.of(run, options, directory, added_at).write(directory)
            sync(directory)
            with locked(self.path):
                if existing := self._with_content(run):  # another process was faster
                    return Added(existing, False, time.perf_counter() - began, [])
                run_id = references.new_id(name, run.digest, self.run_ids())
                target = run_directory(self.path, run_id)
                directory.rename(target)
                sync_names(target.parent)
                self._write_index(work, {run_id: row})
        return Added(run_id, True, time.perf_counter() - began, run.sources)

    def remove(self, run_id: str) -> None:
        """Remove a run atomically. Raise StoreError if there is no such run."""
        with self.work_directory() as work, locked(self.path):
            directory = self.run_path(run_id)
            directory.rename(work / "removed")
            sync_names(directory.parent)
            self._write_index(work)

    def replace(
        self,
        work: Path,
        run_id: str,
        directory: Path,
        parent: Path | None = None,
        row: Path | None = None,
    ) -> None:
        """Replace a run by the one written to `directory`, which is in the work directory `work`.

        The new run goes to the directory of this version, or to `parent`. `row` is the file with
        its row of the index. The caller must hold the store's lock. Raise StoreError if the run no
        longer exists.
        """
        set_aside(self.path, self.run_path(run_id), work)
        target = run_directory(self.path, run_id)
        target = parent / target.name if parent else target
        directory.rename(target)
        sync_names(target.parent)
        self._write_index(work, {run_id: row} if row else None)

    def write_catalog(self) -> None:
        """Write the catalog file, if the store can be written."""
        with suppress(StoreError, OSError, duckdb.Error), self.work_directory() as work:
            write_catalog(work / CATALOG, self.catalog)
            (work / STAMP).write_text(self.catalog.digest())
            sync(work)
            with locked(self.path):  # so that the stamp always matches the catalog
                for name in (CATALOG, STAMP):
                    os.replace(work / name, self.path / name)
            self.has_catalog = True

    def ensure_catalog(self) -> None:
        """Write the catalog file if it is out of date."""
        if not self.has_catalog:  # another process may have written it since
            self.has_catalog = self._stamp() == self.catalog.digest()
        if not self.has_catalog and self.catalog.is_indexed:
            self.write_catalog()

    @contextmanager
    def _writing_catalog(self) -> Iterator[None]:
        """Write an outdated catalog in a thread during the body, because it can take 0.5 s."""
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(self.ensure_catalog)
            yield
            written.result()

    def drop_unused_versions(self) -> None:
        """Remove the directories of versions that no run has any more."""
        with self.work_directory() as work, locked(self.path):
            used = {run.version for run in stored_runs(self.path).values()} | {sql.schema_version()}
            for number, version in enumerate(set(versions(self.path)) - used):
                directory = version_directory(self.path, version)
                unused = directory if version else directory / EMPTY
                unused.rename(work / f"unused_{number}")

    def sweep(self) -> None:
        """Remove leftovers of killed processes. Opening a store does this too."""
        sweep(self.path)

    def _names(self) -> dict[str, str | None]:
        """Return the names of the runs, by id."""
        known = read_index(self.path / INDEX) or self._entries
        return {i: known[i].name if i in known else None for i in self.run_ids()}

    def _write_index(
        self, work: Path, new: dict[str, Path] | None = None, suspects: Container[str] = ()
    ) -> dict[str, Entry]:
        """Write the index of the current runs. The caller must hold the store's lock."""
        entries = write_index(work / INDEX, self.path, stored_runs(self.path), new, suspects)
        os.replace(work / INDEX, self.path / INDEX)
        return entries

    def _with_content(self, run: RunInput) -> str | None:
        """Return the id of the run with the same files, or None.

        Digits of ids may be equal by chance, so checksums decide.
        """
        for run_id, stored in stored_runs(self.path).items():
            is_likely = run.digest.startswith(run_id.rpartition("-")[2])
            if is_likely and checksums(stored.directory) == run.checksums:
                return run_id
        return None

    def _is_current(self, known: dict[str, Entry] | None) -> bool:
        """Return whether an index is up to date."""
        return (
            known is not None
            and known.keys() == self._runs.keys()
            and all(known[run_id].is_of(run) for run_id, run in self._runs.items())
        )

    def _stamp(self) -> str:
        with suppress(OSError):
            return (self.path / STAMP).read_text(errors="replace")
        return ""

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"{self.path}: cannot read the store: {error.strerror}") from error

    @contextmanager
    def work_directory(self) -> Iterator[Path]:
        """Create a directory for work in progress, and remove it afterwards.

        An error in the body becomes a StoreError if its cause is that the store cannot be written.
        """
        try:
            with work_directory(self.path) as work:
                yield work
        except (OSError, duckdb.Error) as error:
            if reason := cause(error, self.path):
                raise StoreError(f"{self.path}: cannot write to the store: {reason}") from error
            raise


def existing(path: str | Path) -> Store:
    """Open the store in `path`. Raise StoreError if it does not exist."""
    wanted = Path(path).expanduser()
    try:
        (wanted / RUNS).stat()
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{wanted}: no such store; `ingest add` creates one") from None
    except OSError:
        pass  # Store reports the error
    return Store(wanted)


def default_store() -> Path:
    """Return the path in `TRACEHOUSE_STORE` or, if that is not set, `./store`."""
    return Path(os.environ.get("TRACEHOUSE_STORE") or "store")

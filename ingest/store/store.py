"""The store: a directory of immutable runs, each a directory of Parquet files.

    <store>/listing.json       the runs, and the directories of their files
    <store>/revisions/         the files (places.py)
    <store>/runs/              links to them, for other programs
    <store>/index-….parquet    derived: the columns that are needed from all runs
    <store>/catalog.duckdb     derived: the views
    <store>/schema             digest of the catalog's definitions

The files of a run are written first. Then one rename replaces the listing, which adds, changes or
removes a run (commits.py). Opening the store updates what is derived.
"""

import os
import time
import warnings
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from ingest import sql
from ingest.disk import cause
from ingest.errors import StoreError
from ingest.formats import FORMATS, Format, Source
from ingest.inputs import RunInput, read_run_input
from ingest.pipeline import AddOptions, utc_now, write_run
from ingest.store import references
from ingest.store.catalog import CATALOG, STAMP, catalog_of
from ingest.store.commits import (
    commit,
    deletable,
    delete_unused,
    drop_unused_versions,
    is_published,
)
from ingest.store.creation import create
from ingest.store.faults import OLD, Fault, StoreWarning
from ingest.store.index import is_indexed
from ingest.store.inventory import adopted, described, found, new_revision_of
from ingest.store.listing import ListedRun, Listing, read_listing
from ingest.store.locking import PREFIX, locked, repair_lock, sweep, sync, work_directory
from ingest.store.manifest import Manifest, checksums
from ingest.store.places import RUNS
from ingest.store.reading import keep, visible
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
        """List the runs again, and update what is derived from the listing.

        All files of the runs `suspects` are read to check whether they are intact. If the store
        cannot be written, only this process sees what was found.
        """
        with self._reading():
            before = visible(self.path)
            self._listing = found(self.path, before, suspects)
            is_current = before == self._listing and self._is_derived()
        if not is_current:
            try:
                with self.work_directory() as work, locked(self.path):
                    listing = found(self.path, read_listing(self.path), suspects)
                    listing = adopted(self.path, listing, work)
                    self._listing, _ = commit(self.path, work, listing)
            except StoreError:
                keep(self.path, self._listing)
        elif deletable(self.path, self._listing):
            with suppress(StoreError, OSError), locked(self.path):
                delete_unused(self.path, read_listing(self.path) or self._listing)
        self.catalog = catalog_of(self.path, {run.version for run in self._runs()})
        self.has_catalog = self._stamp() == self.catalog.digest()

    def check(self, repair: bool = False) -> None:
        """Read all files of all runs to check them, and mend the store's own files.

        With `repair`, mend a damaged lock too. No other process may use the store then.
        """
        if repair:
            with self._reading():
                repair_lock(self.path)
        create(self.path, is_suspect=True)
        self.refresh(suspects=self.run_ids())

    def _is_derived(self) -> bool:
        """Return whether the index and the links are those of the runs in the listing."""
        return is_indexed(self.path, self._listing) and is_published(self.path, self._listing)

    @property
    def state(self) -> str:
        """A digest that changes whenever a run is added, removed or changed."""
        return sql.digest(f"{run.directory} {run.content} {run.fault}" for run in self._runs())

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, sorted, including those that cannot be read."""
        return list(self._now().runs)

    def faults(self) -> dict[str, Fault]:
        """Return the fault of each run that cannot be read, by run id."""
        faults = {run.run_id: run.fault for run in self._runs() if run.fault}
        old = [run.run_id for run in self._runs() if run.version not in self.catalog.versions]
        return dict(sorted({**dict.fromkeys(old, Fault(OLD, "")), **faults}.items()))

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
        return self.path / self.listed(run_id).directory

    def listed(self, run_id: str) -> ListedRun:
        """Return a run as the listing has it now. Raise StoreError if there is no such run."""
        if run := self._now().runs.get(run_id):
            return run
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
                self._put(work, run_id, sql.schema_version(), directory, name, row)
        return Added(run_id, True, time.perf_counter() - began, run.sources)

    def remove(self, run_id: str) -> None:
        """Remove a run atomically. Raise StoreError if there is no such run."""
        with self.work_directory() as work, locked(self.path):
            self.listed(run_id)
            self._commit(work, self._now().without(run_id))

    def replace(
        self, work: Path, run_id: str, directory: Path, version: str, name: str, row: Path | None
    ) -> None:
        """Replace a run by the one written to `directory`, which is in the work directory `work`.

        `version` is the version of its tables, `name` its name, and `row` the file with its row of
        the index, or None. The caller must hold the store's lock. Raise StoreError if the run no
        longer exists.
        """
        self.listed(run_id)
        self._put(work, run_id, version, directory, name, row)

    def _put(
        self, work: Path, run_id: str, version: str, directory: Path, name: str, row: Path | None
    ) -> None:
        placed = new_revision_of(self.path, version, run_id, directory, work)
        run = described(self.path, placed, version, name=name)
        self._commit(work, self._now().with_runs(run), {run_id: row} if row else None)

    def _commit(self, work: Path, listing: Listing, rows: dict[str, Path] | None = None) -> None:
        self._listing, failed = commit(self.path, work, listing, rows)
        for message in failed:
            warnings.warn(message, StoreWarning, stacklevel=4)

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
        if not self.has_catalog:
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
            drop_unused_versions(self.path, work, self._now(), sql.schema_version())

    def sweep(self) -> None:
        """Remove leftovers of killed processes. Opening a store does this too."""
        sweep(self.path)

    def _now(self) -> Listing:
        """Return the store's listing as it is now."""
        with self._reading():
            return visible(self.path) or self._listing

    def _runs(self) -> Collection[ListedRun]:
        """Return the runs at the last refresh."""
        return self._listing.runs.values()

    def _names(self) -> dict[str, str | None]:
        """Return the names of the runs, by id."""
        return {run.run_id: run.name for run in self._now().runs.values()}

    def _with_content(self, run: RunInput) -> str | None:
        """Return the id of the run with the same files, or None.

        Digits of ids may be equal by chance, so checksums decide.
        """
        for run_id, listed in self._now().runs.items():
            is_likely = run.digest.startswith(run_id.rpartition("-")[2])
            if is_likely and checksums(self.path / listed.directory) == run.checksums:
                return run_id
        return None

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

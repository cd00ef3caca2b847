"""The store: a directory of immutable runs, each a directory of Parquet files (files/places.py).

The files of a run are written first. Then one rename replaces the listing, which adds, changes or
removes a run (changes/commits.py). Opening a store writes its index, links and catalog anew if they
are out of date.
"""

import os
import warnings
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.formats import FORMATS, Format
from ingest.inputs import input_path
from ingest.signals import deferred
from ingest.store import run_ids
from ingest.store.cluster import cluster_at
from ingest.store.directory import adding, answering, edits, rebuilding
from ingest.store.directory.changes.change import Change, changing
from ingest.store.directory.changes.creation import create
from ingest.store.directory.derived.catalog import catalog_of
from ingest.store.directory.derived.catalog_file import CatalogFile
from ingest.store.directory.files.leases import keeping_files
from ingest.store.directory.files.listing import ListedRun, Listing
from ingest.store.directory.files.locking import PREFIX, repair_lock, sweep, writing
from ingest.store.directory.files.places import RUNS
from ingest.store.directory.reading.private import private_directory
from ingest.store.directory.reading.visible import visible_listing
from ingest.store.directory.refreshing import refreshed
from ingest.store.directory.views import create_views
from ingest.store.faults import OLD, Fault, StoreWarning
from ingest.store.known import sizes_of_runs
from ingest.store.place import directory_of
from ingest.store.storage import Added, AddOutcomes, RebuildOutcomes
from ingest.store.workers import in_processes

T = TypeVar("T")
LAKE_LOG = "_delta_log"  # in `runs` of a store at a URL


class Store:
    """The store in the directory `path`. It is created if it does not exist.

    Any number of processes may add, remove and read runs at once, and each may be killed at any
    time. The constructor raises StoreError if the store can be neither opened nor created.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = directory_of(path)
        if os.path.exists(self.path / RUNS / LAKE_LOG):  # Path.exists raises without permission
            raise StoreError(f"{self.path}: this is a store at a URL; name it file://{self.path}")
        with self._reading():
            create(self.path)
        if any(self.path.glob(f"{PREFIX}*")):
            self.sweep()
        self.refresh()

    @classmethod
    def existing(cls, place: str | Path, as_of: datetime | None = None) -> "Store":
        """Open the store in a directory. Raise StoreError if it does not exist."""
        directory = directory_of(place)
        if as_of:
            raise StoreError(f"{place}: only a store at a URL can be read as it was at a time")
        try:
            (directory / RUNS).stat()
        except (FileNotFoundError, NotADirectoryError):
            raise StoreError(
                f"{Path(place).expanduser()}: no such store; `ingest add` creates one"
            ) from None
        except OSError:
            pass  # the constructor reports the error
        return cls(directory)

    @classmethod
    def created(cls, place: str | Path) -> "Store":
        """Open the store in a directory, which is created if it does not exist."""
        return cls(place)

    def refresh(self, suspects: Container[str] = (), is_index_suspect: bool = False) -> None:
        """List the runs again, and update what is derived from the listing.

        All files of the runs `suspects` are read to check whether they are intact, and the index is
        written anew if it is suspect. If the store cannot be written, only this process sees what
        was found.
        """
        with self._reading():
            self._listing = refreshed(self.path, suspects, is_index_suspect)
        self.catalog = catalog_of(self.path, {run.version for run in self._runs()})
        self.catalog_file = CatalogFile(self.path, self.catalog)

    def check(self, repair: bool = False) -> None:
        """Read all files of all runs to check them, and mend the store's own files.

        With `repair`, mend a damaged lock too. No other process may use the store then.
        """
        if repair:
            with self._reading():
                repair_lock(self.path)
        create(self.path, is_suspect=True)
        self.refresh(suspects=self.run_ids(), is_index_suspect=True)

    @property
    def state(self) -> str:
        """A digest that changes whenever a run is added, removed or changed."""
        return sql.digest(f"{run.directory} {run.content} {run.fault}" for run in self._runs())

    @property
    def connection_state(self) -> str:
        """A digest that changes whenever open connections can no longer see all runs."""
        return self.catalog_file.digest

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, sorted, including those that cannot be read."""
        return list(self.now().runs)

    def faults(self) -> dict[str, Fault]:
        """Return the fault of each run that cannot be read, by run id."""
        faults = {run.run_id: run.fault for run in self._runs() if run.fault}
        old = [run.run_id for run in self._runs() if run.version not in self.catalog.versions]
        return dict(sorted({**dict.fromkeys(old, Fault(OLD, "")), **faults}.items()))

    def find(self, reference: str) -> str:
        """Return the id of the run that an id, a unique beginning of an id, or a name refers to.

        Raise StoreError if `reference` matches no run or several, or if the run cannot be read.
        """
        run_id = run_ids.find(self.path, self._names(), reference)
        if fault := self.faults().get(run_id):
            raise StoreError(f"{run_id}: {fault.text}")
        return run_id

    def find_exactly(self, reference: str) -> str:
        """Return the id of the run that a full id or a name refers to.

        The run may be unreadable. Raise StoreError if `reference` matches no run or several.
        """
        return run_ids.find_exactly(self.path, self._names(), reference)

    def run_path(self, run_id: str) -> Path:
        """Return the directory of a run. Raise StoreError if there is no such run."""
        return self.path / self.listed(run_id).directory

    def listing(self) -> Listing:
        """Return the runs at the last refresh."""
        return self._listing

    def listed(self, run_id: str) -> ListedRun:
        """Return a run as the listing has it now. Raise StoreError if there is no such run."""
        if run := self.now().runs.get(run_id):
            return run
        raise StoreError(f"{run_id}: no such run in {self.path}")

    def add(
        self,
        path: str | Path,
        options: AddOptions | None = None,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
        formats: Sequence[Format] = FORMATS,
    ) -> Added:
        """Add a run directory or file as a run.

        Each file is read with the first of the `formats` that recognises it. `threads` is the
        number of threads to use, None for all processors. `progress` is called with the share of
        the work that is done, 0 to 1. Raise ProfileError if the input cannot be read, and
        StoreError if the store cannot be written. The store is then unchanged.
        """
        path = input_path(path)
        sizes = sizes_of_runs(self, [path])
        return adding.add(self, path, options or AddOptions(), threads, progress, formats, sizes)

    def add_all(
        self,
        paths: Sequence[Path],
        options: AddOptions,
        jobs: int = 1,
        progress: Callable[[Path, float], None] | None = None,
        cluster: str | None = None,
    ) -> AddOutcomes:
        """Add each path as a run in worker processes (`Storage.add_all`)."""

        def add(path: Path, threads: int | None, report: Callable[[float], None]) -> Added:
            path = input_path(path)  # in this process
            return adding.add(self, path, options, threads, report, FORMATS, sizes)

        with self._swept():
            if cluster:
                with cluster_at(cluster) as workers:
                    yield from adding.add_from(self, paths, options, workers, progress)
            else:
                sizes = sizes_of_runs(self, paths)
                yield from in_processes(paths, add, jobs, progress)

    def edit(self, run_id: str, changes: AddOptions) -> None:
        """Change the labels of a run (`Storage.edit`)."""
        edits.edit(self, run_id, changes)

    def outdated(self) -> list[str]:
        """Return the ids of the runs that another version of tracehouse wrote, sorted."""
        return rebuilding.outdated(self)

    def rebuild(
        self,
        run_id: str,
        threads: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Build a run again from its original files. Its id and labels do not change.

        `progress` is called with the share of the work that is done, 0 to 1. Raise StoreError, with
        the reason, if the run cannot be rebuilt. The stored run is then unchanged.
        """
        rebuilding.rebuild(self, run_id, threads, progress)

    def rebuild_all(
        self,
        run_ids: Sequence[str],
        jobs: int = 1,
        progress: Callable[[str, float], None] | None = None,
        cluster: str | None = None,
    ) -> RebuildOutcomes:
        """Rebuild each run from its original files, in worker processes (`Storage.rebuild_all`)."""
        if not run_ids:  # the store may be read-only
            return
        with self._swept():
            if cluster:
                with cluster_at(cluster) as workers:
                    yield from rebuilding.rebuild_from(self, run_ids, workers, progress)
            else:
                yield from in_processes(run_ids, self.rebuild, jobs, progress)

    def remove(self, *run_ids: str) -> None:
        """Remove runs, each atomically. Raise StoreError if one is not there."""
        with writing(self.path) as work, self.changing(work) as change:
            for run_id in run_ids:
                change.listed(run_id)
            for run_id in run_ids:
                change.remove(run_id)

    def create_views(
        self,
        connection: duckdb.DuckDBPyConnection,
        run_ids: Collection[str] = (),
        only: bool = False,
    ) -> None:
        """Create all tables, views and macros in a connection (`Storage.create_views`)."""
        create_views(
            connection, self.path, self.catalog, self.catalog_file, run_ids if only else ()
        )

    def places_read(self) -> list[str]:
        """Return the directories that statements of a connection read."""
        return [str(self.path), str(private_directory())]

    @classmethod
    def answer(cls, place: str, query: Callable[[], T]) -> T:
        """Return the result of `query` (`Storage.answer`)."""
        return answering.answer(Path(place), query, lambda: cls.existing(place))

    @staticmethod
    def keeping_files(place: str) -> AbstractContextManager[None]:
        """Keep the files that statements read in the body (`Storage.keeping_files`)."""
        return keeping_files(Path(place))

    @contextmanager
    def changing(self, work: Path) -> Iterator[Change]:
        """Hold the store's lock in the body, and let it change the runs.

        `work` is a work directory. Warn with StoreWarning about derived files that could not be
        written.
        """
        with changing(self.path, work) as change:
            yield change
        self._listing = change.listing
        for message in change.failed:
            warnings.warn(message, StoreWarning, stacklevel=4)

    def sweep(self) -> None:
        """Remove leftovers of killed processes. Opening a store does this too."""
        sweep(self.path)

    def now(self) -> Listing:
        """Return the store's listing as it is now."""
        with self._reading():
            return visible_listing(self.path) or self._listing

    def _runs(self) -> Collection[ListedRun]:
        """Return the runs at the last refresh."""
        return self._listing.runs.values()

    def _names(self) -> dict[str, str | None]:
        """Return the names of the runs, by id."""
        return {run.run_id: run.name for run in self.now().runs.values()}

    @contextmanager
    def _swept(self) -> Iterator[None]:
        """Remove leftovers of worker processes after the body."""
        try:
            yield
        finally:
            with deferred():  # the user may press Ctrl-C twice
                self.sweep()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"{self.path}: cannot read the store: {error.strerror}") from error

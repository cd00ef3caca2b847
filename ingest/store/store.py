"""The store: a directory of immutable runs, each a directory of Parquet files (files/places.py).

The files of a run are written first. Then one rename replaces the listing, which adds, changes or
removes a run (changes/commits.py). Opening a store writes its index, links and catalog anew if they
are out of date.
"""

import os
import time
import warnings
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.formats import FORMATS, Format, Source
from ingest.inputs import RunInput, read_run_input
from ingest.store import run_ids
from ingest.store.changes.change import Change, changing
from ingest.store.changes.commits import is_published
from ingest.store.changes.creation import create
from ingest.store.changes.deletion import deletable, delete_unused
from ingest.store.changes.inventory import found
from ingest.store.changes.written import write
from ingest.store.derived.catalog import catalog_of
from ingest.store.derived.catalog_file import CatalogFile
from ingest.store.derived.index import is_indexed
from ingest.store.files.faults import OLD, Fault, StoreWarning
from ingest.store.files.listing import ListedRun, Listing, read_listing
from ingest.store.files.locking import PREFIX, locked, repair_lock, sweep, sync, writing
from ingest.store.files.manifest import checksums
from ingest.store.files.places import RUNS
from ingest.store.files.revisions import are_marked
from ingest.store.place import directory_of
from ingest.store.reading.visible import keep_visible, stored_listing, visible_listing
from ingest.units import as_utf8

LAKE_LOG = "_delta_log"  # in `runs` of a store at a URL


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
        self.path = directory_of(path)
        if os.path.exists(self.path / RUNS / LAKE_LOG):  # Path.exists raises without permission
            raise StoreError(f"{self.path}: this is a store at a URL; name it file://{self.path}")
        with self._reading():
            create(self.path)
        if any(self.path.glob(f"{PREFIX}*")):
            self.sweep()
        self.refresh()

    def refresh(self, suspects: Container[str] = (), is_index_suspect: bool = False) -> None:
        """List the runs again, and update what is derived from the listing.

        All files of the runs `suspects` are read to check whether they are intact, and the index is
        written anew if it is suspect. If the store cannot be written, only this process sees what
        was found.
        """
        with self._reading():
            before = visible_listing(self.path)
            self._listing = found(self.path, before, suspects)
            known = stored_listing(self.path)
            stored = self._listing.for_all_users(known)
            is_current = (
                before is not None
                and before.for_all_users(known) == stored
                and not is_index_suspect
                and is_indexed(self.path, stored)
                and is_published(self.path, stored)
                and are_marked(self.path, self._listing)
            )
        if not is_current:
            try:
                with writing(self.path) as work, changing(self.path, work) as change:
                    change.update(suspects, is_index_suspect)
                    denied = (r for r in self._listing.denied() if change.listing.has(r.directory))
                    self._listing = change.listing.with_runs(*denied)
            except StoreError:
                with self._reading():  # runs may have moved
                    self._listing = found(self.path, before, suspects)
                keep_visible(self.path, self._listing)
        elif deletable(self.path, self._listing):
            with suppress(StoreError, OSError), locked(self.path) as is_locked:
                if listing := read_listing(self.path):
                    delete_unused(self.path, listing, is_locked)
        if self._listing.denied() and self._now() != self._listing:
            keep_visible(self.path, self._listing)
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
        options = options or AddOptions()
        captures = [Path(file) for file in options.capture_traces]
        options = options.without_secrets()
        with writing(self.path) as work, self.catalog_file.written_beside():
            run = read_run_input(Path(path), formats, captures)
            if existing := self._with_content(run, self._now()):
                return Added(existing, False, time.perf_counter() - began, [])
            written = write(run, options, work, threads, progress)
            sync(written.directory)
            with self.changing(work) as change:
                if existing := self._with_content(run, change.listing):  # another was faster
                    return Added(existing, False, time.perf_counter() - began, [])
                run_id = run_ids.new_id(written.name, run.digest, change.listing.runs)
                change.put(
                    run_id, sql.schema_version(), written.directory, written.name, written.row
                )
        return Added(run_id, True, time.perf_counter() - began, run.sources)

    def remove(self, *run_ids: str) -> None:
        """Remove runs, each atomically. Raise StoreError if one is not there."""
        with writing(self.path) as work, self.changing(work) as change:
            for run_id in run_ids:
                change.listed(run_id)
            for run_id in run_ids:
                change.remove(run_id)

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

    def _now(self) -> Listing:
        """Return the store's listing as it is now."""
        with self._reading():
            return visible_listing(self.path) or self._listing

    def _runs(self) -> Collection[ListedRun]:
        """Return the runs at the last refresh."""
        return self._listing.runs.values()

    def _names(self) -> dict[str, str | None]:
        """Return the names of the runs, by id."""
        return {run.run_id: run.name for run in self._now().runs.values()}

    def _with_content(self, run: RunInput, listing: Listing) -> str | None:
        """Return the id of the run in `listing` with the same files, or None."""
        for run_id in run_ids.likely(run_ids.by_digits(listing.runs), run.digest):
            if checksums(self.path / listing.runs[run_id].directory) == run.checksums:
                return run_id
        return None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"{self.path}: cannot read the store: {error.strerror}") from error


def existing(path: str | Path) -> Store:
    """Open the store in `path`. Raise StoreError if it does not exist."""
    directory = directory_of(path)
    try:
        (directory / RUNS).stat()
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"{Path(path).expanduser()}: no such store; `ingest add` creates one"
        ) from None
    except OSError:
        pass  # Store reports the error
    return Store(directory)

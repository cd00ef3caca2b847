"""Changes of the runs of a store, made by the process that holds the store's lock."""

import os
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.directory.changes.commits import commit
from ingest.store.directory.changes.deletion import withdraw
from ingest.store.directory.changes.inventory import adopted, described, found
from ingest.store.directory.files.aside import put_aside, put_back
from ingest.store.directory.files.listing import ListedRun, Listing, read_listing
from ingest.store.directory.files.locking import locked
from ingest.store.directory.files.places import PREFIX, published
from ingest.store.directory.files.revisions import place


@contextmanager
def changing(store: Path, work: Path) -> Iterator["Change"]:
    """Hold the store's lock in the body, and let it change the runs. `work` is a work directory."""
    with locked(store) as is_locked:
        yield Change(store, work, is_locked)


class Change:
    """Changes of a store's runs. Each is one commit.

    `listing` is the store's at any time. `failed` has a message for each derived thing that could
    not be written. The methods raise OSError if a change cannot be committed. Then nothing has
    changed.
    """

    def __init__(self, store: Path, work: Path, is_locked: bool) -> None:
        self.failed: list[str] = []
        self._store = store
        self._work = work
        self._is_locked = is_locked
        self._before = read_listing(store)
        self.listing = self._before or found(store, None).for_all_users(None)

    def listed(self, run_id: str) -> ListedRun:
        """Return a run's entry. Raise StoreError if there is no such run."""
        if run := self.listing.runs.get(run_id):
            return run
        raise StoreError(f"{run_id}: no such run in {self._store}")

    def put(self, run_id: str, version: str, files: Path, name: str, row: Path | None) -> None:
        """Add a run, or replace the one with this id, by the files in the directory `files`.

        `version` is the version of its tables, `name` its name, and `row` the file with its row of
        the index, None to read its tables. `files` is in the work directory.
        """
        directory = place(self._store, self._work, version, run_id, files)
        try:
            run = described(self._store, directory, version, name=name)
            assert run is not None  # its directory was placed just now
            before = self.listing.runs.get(run_id)
            with self._aside([before.directory] if before and before.is_copied_in else []):
                self._commit(self.listing.with_runs(run), {run_id: row} if row else None)
        except BaseException:
            listing = read_listing(self._store)
            if not listing or not listing.has(directory):  # Ctrl-C may come after the commit
                withdraw(self._store, directory, files)
            raise

    def remove(self, run_id: str) -> None:
        """Remove a run. Raise StoreError if there is no such run."""
        self.listed(run_id)
        copied_in = [
            run.path
            for run in published(self._store)
            if not run.target and os.path.basename(run.path) == f"{PREFIX}{run_id}"
        ]
        with self._aside(copied_in):
            self._commit(self.listing.without({run_id}))

    def update(self, suspects: Container[str], is_index_suspect: bool) -> None:
        """Find the runs on the disk. Write the listing, the index and the links.

        All files of the runs `suspects` are read to check them, and the index is written anew if it
        is suspect.
        """
        listing = found(self._store, self._before, suspects).for_all_users(self._before)
        listing = adopted(self._store, self._work, listing)
        self._commit(listing, is_index_suspect=is_index_suspect)

    @contextmanager
    def _aside(self, directories: list[str]) -> Iterator[None]:
        """Put aside directories of runs in place of links. They return unless the body commits."""
        try:
            for directory in directories:
                put_aside(self._store, self._work, directory)
            yield
        except BaseException:
            if read_listing(self._store) == self._before:
                put_back(self._store, self._work)
            raise

    def _commit(
        self,
        listing: Listing,
        rows: Mapping[str, Path] | None = None,
        is_index_suspect: bool = False,
    ) -> None:
        self.listing, self.failed = commit(
            self._store,
            self._work,
            self._before,
            listing,
            rows,
            is_locked=self._is_locked,
            is_index_suspect=is_index_suspect,
        )
        self._before = self.listing

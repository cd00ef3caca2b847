"""What a transaction reads: the files of all runs that were in the store when it began.

The views of a connection read `table_files(…)` and `index_files(…)`. In a connection of this
process, these are functions of `VisibleFiles`, which DuckDB calls when it binds a statement. So a
statement sees each run whole or not at all.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.store.directory.derived.index import index_path, read_index
from ingest.store.directory.files.detection import find_fault
from ingest.store.directory.files.leases import take_lease
from ingest.store.directory.files.listing import LISTING, Listing, read_listing
from ingest.store.directory.files.places import empty_directory
from ingest.store.directory.reading.private import private_empty_directory, private_index

Signature = tuple[int, int, int] | None
TRANSACTION_SECONDS = 660.0  # longer transactions may see a run that was added meanwhile


class _Seen(NamedTuple):
    signature: Signature
    stored: Listing | None
    visible: Listing | None


_seen: dict[Path, _Seen] = {}
_damaged_indexes: set[Path] = set()


def visible_listing(store: Path) -> Listing | None:
    """Return the listing of a store as this process sees it. It is read again when it changes.

    Runs that this user may not read keep their fault. Return None if the listing is missing or
    damaged. Raise StoreError if it cannot be read.
    """
    return _read(store).visible


def stored_listing(store: Path) -> Listing | None:
    """Return the listing of a store as `visible_listing` last read it."""
    return _read(store).stored


def keep_visible(store: Path, listing: Listing) -> None:
    """Let this process see `listing` until the store's changes, because it cannot be written."""
    seen = _seen.get(store) or _read(store)  # not a listing that was stored since
    _seen[store] = seen._replace(visible=listing)


def _read(store: Path) -> "_Seen":
    signature = _signature(store)
    seen = _seen.get(store)
    if seen is None or seen.signature != signature:
        try:
            stored = visible = read_listing(store)
        except OSError as error:
            raise StoreError(f"{store}: cannot read the store: {error.strerror}") from error
        if visible and seen and seen.visible:
            denied = (run for run in seen.visible.denied() if visible.has(run.directory))
            visible = visible.with_faults({run.run_id: run.fault for run in denied if run.fault})
        seen = _seen[store] = _Seen(signature, stored, visible)
    return seen


def distrust_index(index: Path) -> None:
    """Let this process read an index of its own in place of a damaged one."""
    _damaged_indexes.add(index)


def is_distrusted(index: Path) -> bool:
    """Return whether this process reads an index of its own in place of `index`."""
    return index in _damaged_indexes


def _signature(store: Path) -> Signature:
    try:
        found = os.stat(store / LISTING)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


class VisibleFiles:
    """The files of a store that each transaction of a connection reads.

    `versions` are the versions of tables that the connection's views read. They see no runs of
    versions that came into the store later, because a run without its tables would not be whole.
    With `run_ids`, they see only these runs.
    """

    def __init__(
        self, store: Path, versions: Collection[str], run_ids: Collection[str] = ()
    ) -> None:
        self._store = store
        self._lease = take_lease(store)
        self._lock = threading.Lock()
        self._seen: OrderedDict[int, tuple[float, _Files]] = OrderedDict()
        self._first = visible_listing(store) or Listing()
        self._run_ids = {*run_ids}
        self._versions = {*versions, *(run.version for run in self._first.runs.values())}

    def define(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create the functions that the views read, in place of the macros of the catalog."""
        for name in ("table_files", "index_files"):
            connection.execute(f"DROP MACRO IF EXISTS {name}")
        connection.create_function(
            "table_files", self.of_table, ["VARCHAR", "VARCHAR", "UBIGINT"], "VARCHAR[]"
        )
        connection.create_function("index_files", self.of_index, ["UBIGINT"], "VARCHAR[]")

    def of_table(self, version: str, table: str, transaction: int) -> list[str]:
        """Return the files of a table, of the runs of a version."""
        return self._at(transaction).of_table(version, table)

    def of_index(self, transaction: int) -> list[str]:
        """Return the file with the index."""
        return [str(self._at(transaction).index)]

    def _at(self, transaction: int) -> "_Files":
        """Return the files as they were when a transaction first asked."""
        now = time.monotonic()
        with self._lock:
            if found := self._seen.get(transaction):
                return found[1]
            while self._seen and next(iter(self._seen.values()))[0] < now - TRANSACTION_SECONDS:
                self._seen.popitem(last=False)
            last = next(reversed(self._seen.values()))[1] if self._seen else None
            self._lease = take_lease(self._store)  # before the listing is read
            listing = visible_listing(self._store)
            if listing is None:  # somebody is copying a listing
                listing = last.listing if last else self._first
            if not last or last.listing is not listing:
                if last:
                    last.forget_paths()
                last = _Files(self._store, listing, self._versions, self._run_ids)
            self._seen[transaction] = (now, last)
            return last


class _Files:
    """The files of the runs in a listing that have one of these versions, or of some of them."""

    def __init__(
        self, store: Path, listing: Listing, versions: Collection[str], chosen: Collection[str]
    ) -> None:
        self.listing = listing
        self._store = store
        runs = listing.runs.values()
        hidden = {
            run.run_id
            for run in runs
            if run.version not in versions or (chosen and run.run_id not in chosen)
        }
        self._shown = listing.without(hidden) if hidden else listing
        self._of_table: dict[tuple[str, str], list[str]] = {}

    def of_table(self, version: str, table: str) -> list[str]:
        """Return the files of a table, of the runs of a version."""
        if (files := self._of_table.get((version, table))) is None:
            files = [
                f"{self._store}/{run.directory}/{table}.parquet"
                for run in self._shown.readable()
                if run.version == version and table in run.tables
            ]
            self._of_table[version, table] = files
        return [*files, str(self._empty(version, table))]  # a version may be deleted meanwhile

    def forget_paths(self) -> None:
        """Free the memory of the paths, which are made again if a transaction asks for them."""
        self._of_table = {}

    @cached_property
    def index(self) -> Path:
        file = index_path(self._store, self._shown)
        is_damaged = is_distrusted(file)
        if not is_damaged and read_index(file) is not None:
            return file
        file, faults = private_index(self._store, self._shown, is_damaged)
        if faults:  # later transactions see these runs nowhere
            keep_visible(self._store, self.listing.with_faults(faults))
        return file

    def _empty(self, version: str, table: str) -> Path:
        """Return a file of the table without rows."""
        ours = sql.schema_version()
        for each in (version, ours):  # a version is gone after an upgrade
            file = empty_directory(self._store, each) / f"{table}.parquet"
            if os.path.isfile(file) and not (each == ours and self._is_empty_damaged):
                return file
        return private_empty_directory() / f"{table}.parquet"

    @cached_property
    def _is_empty_damaged(self) -> bool:
        return find_fault(empty_directory(self._store), sql.schema_version(), ()) is not None

"""What a transaction reads: the files of all runs that were in the store when it began.

The views of a connection read `table_files(…)` and `index_files(…)`. In a connection of this
process, these are functions of `VisibleFiles`, which DuckDB calls when it binds a statement. So a
statement sees each run whole or not at all.
"""

import atexit
import os
import threading
import time
from collections import OrderedDict
from contextlib import ExitStack
from pathlib import Path

import duckdb

from ingest.store.index import index_path
from ingest.store.indexing import write_index
from ingest.store.leases import DELAY_SECONDS, take_lease
from ingest.store.listing import LISTING, Listing, read_listing
from ingest.store.places import empty_directory
from ingest.store.template import copy_empty
from ingest.temporary import temporary_directory

Signature = tuple[int, int, int] | None

_read: dict[Path, tuple[Signature, Listing | None]] = {}
_private: list[Path] = []
_at_exit = ExitStack()
atexit.register(_at_exit.close)
_private_lock = threading.Lock()


def visible(store: Path) -> Listing | None:
    """Return the listing of a store, or None if it is missing or damaged.

    It is read again when it changes.
    """
    signature = _signature(store)
    kept = _read.get(store)
    if kept is None or kept[0] != signature:
        kept = _read[store] = (signature, read_listing(store))
    return kept[1]


def keep(store: Path, listing: Listing) -> None:
    """Let this process see `listing` until the store's changes, because it cannot be written."""
    _read[store] = (_signature(store), listing)


def index_of(store: Path, listing: Listing) -> Path | None:
    """Return the file with the index of a listing, or None if there is none yet."""
    files = (index_path(place, listing) for place in (store, *_private))
    return next((file for file in files if file.is_file()), None)


def private_index(store: Path, listing: Listing) -> Path:
    """Write the index of a store that cannot be written, for this process."""
    target = index_path(private_directory(), listing)
    if not target.exists():
        new = target.with_name(f"{threading.get_ident()}.parquet")
        write_index(new, store, listing)
        new.replace(target)
    return target


def private_directory() -> Path:
    """Return the temporary directory of this process, for what a store cannot keep."""
    with _private_lock:
        if not _private:
            _private.append(_at_exit.enter_context(temporary_directory()))
    return _private[0]


class VisibleFiles:
    """The files of a store that each transaction of a connection reads."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._lease = take_lease(store)  # before the listing is read
        self._lock = threading.Lock()
        self._seen: OrderedDict[int, tuple[float, _Files]] = OrderedDict()

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
        return [str(self._at(transaction).index())]

    def _at(self, transaction: int) -> "_Files":
        """Return the files as they were when a transaction first asked."""
        now = time.monotonic()
        with self._lock:
            if found := self._seen.get(transaction):
                return found[1]
            while self._seen and next(iter(self._seen.values()))[0] < now - DELAY_SECONDS:
                self._seen.popitem(last=False)
            listing = visible(self._store) or Listing()
            last = next(reversed(self._seen.values()))[1] if self._seen else None
            files = last if last and last.listing is listing else _Files(self._store, listing)
            self._seen[transaction] = (now, files)
            return files


class _Files:
    """The files of the runs in a listing."""

    def __init__(self, store: Path, listing: Listing) -> None:
        self.listing = listing
        self._store = store
        self._runs = listing.readable()
        self._of_table: dict[tuple[str, str], list[str]] = {}

    def of_table(self, version: str, table: str) -> list[str]:
        key = (version, table)
        if key not in self._of_table:
            self._of_table[key] = [
                f"{self._store}/{run.directory}/{table}.parquet"
                for run in self._runs
                if run.version == version and table in run.tables
            ]
        return [*self._of_table[key], str(self._empty(version, table))]

    def index(self) -> Path:
        return index_of(self._store, self.listing) or private_index(self._store, self.listing)

    def _empty(self, version: str, table: str) -> Path:
        """Return a file of the table without rows."""
        for directory in (empty_directory(self._store, version), empty_directory(self._store)):
            file = directory / f"{table}.parquet"  # a version may be gone after an upgrade
            if file.is_file():
                return file
        private = private_directory() / "empty"
        if not private.exists():
            copy_empty(private, private.with_name("empty_index.parquet"))
        return private / f"{table}.parquet"


def _signature(store: Path) -> Signature:
    try:
        found = os.stat(store / LISTING)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size

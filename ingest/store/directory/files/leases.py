"""Leases of readers, so that no file is deleted while a statement may still read it.

    <store>/.readers/<time>-<hex>     locked while the process that reads the store is alive

Files of runs that were removed or replaced are deleted when every reader began after that, or
`DELAY_SECONDS` later. A statement may run longer if it runs in `keeping_files`. The modification
time of the file is the time when the first of these statements began, or 0.

A process that may not write in the store reads without a lease.
"""

import fcntl
import os
import threading
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.directory.files.modes import make_directories, share
from ingest.store.directory.files.places import names_in

READERS = ".readers"
DELAY_SECONDS = 600.0
SKEW_NS = 60 * 10**9  # between the clocks of machines that share the store
DAY_NS = 24 * 3600 * 10**9


def take_lease(store: Path) -> "Lease | None":
    """Return this process's lease of a store. It ends when nobody refers to it any more.

    Return None if the process may not write in the store.
    """
    key = (os.getpid(), store)
    with _lock, suppress(OSError, StoreError):
        lease = _leases.get(key)
        if not lease or not lease.is_in_store():
            for file in (store / READERS).glob("*"):
                with suppress(FileNotFoundError):
                    _is_held(file)  # removes what killed processes left
            lease = _leases[key] = Lease(store)
        return lease
    return None


@contextmanager
def keeping_files(store: Path) -> Iterator[None]:
    """Keep all files that are in the store now until the body ends."""
    lease = take_lease(store) if (os.getpid(), store) in _leases else None
    if not lease:
        yield
        return
    began = lease.begin()
    try:
        yield
    finally:
        lease.end(began)


def horizon_ns(store: Path) -> int:
    """Return the time before which files must have been removed so that nobody reads them."""
    horizon = now = time.time_ns()
    try:
        names = names_in(store / READERS)
    except PermissionError:  # somebody may be reading
        return now - int(DELAY_SECONDS * 1e9) - SKEW_NS
    for file in (store / READERS / name for name in names):
        with suppress(FileNotFoundError, ValueError):
            if not _is_held(file):
                continue
            began = int(file.name.partition("-")[0])
            held = max(began, now - int(DELAY_SECONDS * 1e9))
            statement = file.stat().st_mtime_ns
            horizon = min(horizon, (min(held, statement) if statement else held) - SKEW_NS)
    return horizon


class Lease:
    """A lease of a store for this process.

    The constructor raises OSError or StoreError if the store cannot be written.
    """

    def __init__(self, store: Path) -> None:
        directory = store / READERS
        make_directories(store, directory)
        self._statements: list[int] = []
        self._lock = threading.Lock()
        self._file, descriptor = _locked_file(directory)
        share(store, self._file)
        os.utime(self._file, ns=(0, 0))
        weakref.finalize(self, _release, self._file, descriptor, os.getpid())

    def is_in_store(self) -> bool:
        """Return whether the lease still counts. It does not if somebody made the store anew."""
        return self._file.exists()

    def begin(self) -> int:
        """Note that a statement begins. Return its time, for `end`."""
        with self._lock:
            began = time.time_ns()
            self._statements.append(began)
            self._note()
        return began

    def end(self, began: int) -> None:
        """Note that the statement that began then has ended."""
        with self._lock:
            self._statements.remove(began)
            self._note()

    def _note(self) -> None:
        first = min(self._statements, default=0)
        with suppress(OSError):
            os.utime(self._file, ns=(first, first))


def _locked_file(directory: Path) -> tuple[Path, int]:
    while True:
        file = directory / f"{time.time_ns()}-{uuid.uuid4().hex[:8]}"
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if file.exists():  # otherwise another process took it for a leftover before it was locked
            return file, descriptor
        os.close(descriptor)


def _release(file: Path, descriptor: int, process: int) -> None:
    if os.getpid() == process:  # not a fork
        with suppress(OSError):
            file.unlink()
        with suppress(OSError):
            os.close(descriptor)


def _is_held(file: Path) -> bool:
    """Return whether a process holds a lease. Remove the file otherwise, if possible.

    Raise FileNotFoundError if it is gone.
    """
    try:
        descriptor = _opened(file)
    except FileNotFoundError:
        raise
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(OSError):
            file.unlink()  # while it is locked, so that nobody begins to hold it
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        if time.time_ns() - os.fstat(descriptor).st_ctime_ns < DAY_NS:
            return True
        with suppress(OSError):
            file.unlink()
    finally:
        os.close(descriptor)
    return False


def _opened(file: Path) -> int:
    try:
        return os.open(file, os.O_RDWR)  # NFS locks only files that are open for writing
    except PermissionError:
        return os.open(file, os.O_RDONLY)


_lock = threading.Lock()
_leases: "weakref.WeakValueDictionary[tuple[int, Path], Lease]" = weakref.WeakValueDictionary()

"""Work in progress in a store: it vanishes with the process that does it, however that ends.

    <store>/.lock          held for moments: while a workplace or a run comes or goes
    <store>/.work-*/       a workplace, in use while the file `lock` in it is locked

The kernel drops a lock when its process dies, on this machine or on another that shares the file
system. So a workplace whose lock is free is a leftover, whatever became of process numbers since,
and the next process that writes sweeps it. Where a file system has no locks (some mounts of
Lustre), nothing is swept, and two processes that add the same content at once may both succeed.
"""

import errno
import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from ingest.store.places import put_back

LOCK = ".lock"
PREFIX = ".work-"
NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK}
CAUSES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG, errno.EIO)


@contextmanager
def locked(store: Path) -> Iterator[None]:
    """Waits for the store's lock and holds it."""
    lock = _lock(store / LOCK)
    try:
        yield
    finally:
        os.close(lock)


@contextmanager
def workplace(store: Path) -> Iterator[Path]:
    """A directory in the store, gone afterwards; leftovers of the dead are swept first."""
    directory = store / f"{PREFIX}{uuid.uuid4().hex[:12]}"
    with locked(store):  # nobody sweeps between the two steps
        _sweep(store)
        directory.mkdir(mode=0o700)  # what is in it may not be redacted yet
        lock = _lock(directory / "lock")
    try:
        yield directory
    finally:
        os.close(lock)  # NFS keeps a file that is open
        shutil.rmtree(directory, ignore_errors=True)


def sweep(store: Path) -> None:
    """Removes the workplaces of processes that are dead, where that is possible."""
    with suppress(OSError), locked(store):
        _sweep(store)


def _sweep(store: Path) -> None:
    for directory in store.glob(f"{PREFIX}*"):
        with suppress(OSError):  # in use, gone by now, or another user's
            os.close(_lock(directory / "lock", fcntl.LOCK_NB, needed=True))
            put_back(store, directory)
            shutil.rmtree(directory, ignore_errors=True)


def _lock(path: Path, flags: int = 0, needed: bool = False) -> int:
    """A descriptor that holds the lock of `path`, or, unless `needed`, where there are no locks."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError:
        descriptor = os.open(path, os.O_RDONLY)  # another user's; NFS alone asks for more
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | flags)
    except OSError as error:
        if needed or error.errno not in NO_LOCKS:
            os.close(descriptor)
            raise
    except BaseException:  # Ctrl-C while waiting
        os.close(descriptor)
        raise
    return descriptor


def sync(directory: Path) -> None:
    """Brings the files in `directory` to the disk, so that no power cut leaves empty ones.

    Raises OSError where they do not fit: network file systems may say so only now.
    """
    for file in directory.iterdir():
        _sync(file)
    sync_names(directory)


def sync_names(directory: Path) -> None:
    """Brings to the disk which files `directory` holds."""
    with suppress(OSError):  # not every file system can, and those have no need
        _sync(directory)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cause(error: OSError | duckdb.Error, store: Path) -> str | None:
    """Why the store took no more, in the system's words; None where something else is wrong."""
    if isinstance(error, OSError):
        files = [file for file in (error.filename, error.filename2) if file]
        elsewhere = files and not any(Path(file).is_relative_to(store) for file in files)
        return None if elsewhere or error.errno not in CAUSES else error.strerror
    text = str(error)
    if "max_temp_directory_size" in text:  # by default what the disk has left
        return os.strerror(errno.ENOSPC)
    return next((os.strerror(code) for code in CAUSES if os.strerror(code) in text), None)

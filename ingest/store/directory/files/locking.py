"""Locks of a store, and work directories that are cleaned up even if their process is killed.

    <store>/.lock          held briefly, while a work directory or a run is added or removed
    <store>/.work-*/       a work directory, in use while the file `lock` in it is locked

The kernel releases a lock when its process dies, on this machine or on another machine that shares
the file system. A work directory whose lock is free is therefore a leftover, even if its process
id is in use again. The next process that writes removes it. On a file system without locks (some
mounts of Lustre), leftovers stay, and two processes that add the same content at once may both
succeed. No run is lost there (revisions.py).
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

from ingest.disk import cause
from ingest.errors import StoreError
from ingest.store.directory.files.aside import put_back_listed

LOCK = ".lock"
PREFIX = ".work-"
NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK}


@contextmanager
def locked(store: Path) -> Iterator[bool]:
    """Wait for the store's lock, and hold it in the body.

    Yield False if the file system has no locks.
    """
    lock, is_held = _lock(store / LOCK)
    try:
        yield is_held
    finally:
        os.close(lock)


@contextmanager
def writing(store: Path) -> Iterator[Path]:
    """Create a work directory for the body, as `work_directory` does.

    An error in the body becomes a StoreError if its cause is that the store cannot be written.
    """
    try:
        with work_directory(store) as work:
            yield work
    except (OSError, duckdb.Error) as error:
        if reason := cause(error, store):
            raise StoreError(f"{store}: cannot write to the store: {reason}") from error
        raise


@contextmanager
def work_directory(store: Path) -> Iterator[Path]:
    """Create a directory in the store for the body, and remove it afterwards.

    Leftovers of dead processes are removed first.
    """
    directory = store / f"{PREFIX}{uuid.uuid4().hex[:12]}"
    with locked(store):  # no other process may sweep before the new directory is locked
        _sweep(store)
        directory.mkdir(mode=0o700)  # its content may not be redacted yet
        lock, _ = _lock(directory / "lock")
    try:
        yield directory
    finally:
        os.close(lock)  # NFS cannot delete an open file
        shutil.rmtree(directory, ignore_errors=True)


def sweep(store: Path) -> None:
    """Remove the work directories of dead processes, if possible."""
    with suppress(OSError, StoreError), locked(store):
        _sweep(store)


def _sweep(store: Path) -> None:
    for directory in store.glob(f"{PREFIX}*"):
        with suppress(OSError, StoreError):  # in use, removed meanwhile, or owned by another user
            lock, _ = _lock(directory / "lock", fcntl.LOCK_NB, needed=True)
            os.close(lock)
            put_back_listed(store, directory)
            shutil.rmtree(directory, ignore_errors=True)


def _lock(path: Path, flags: int = 0, needed: bool = False) -> tuple[int, bool]:
    """Lock the file `path`. Return the descriptor that holds the lock, and whether it does.

    On a file system without locks, raise OSError if `needed`, and otherwise do without a lock.
    Raise StoreError if `path` is a directory, or a link to nothing.
    """
    if is_damaged(path):
        raise StoreError(f"{path}: not a file to lock; run `ingest check --repair`")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError:
        # The file belongs to another user. Read access is enough for a lock, except on NFS.
        descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | flags)
    except OSError as error:
        if error.errno == errno.EBADF:  # NFS locks only files that are open for writing
            os.close(descriptor)
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) from error
        if needed or error.errno not in NO_LOCKS:
            os.close(descriptor)
            raise
        return descriptor, False
    except BaseException:  # Ctrl-C while waiting
        os.close(descriptor)
        raise
    return descriptor, True


def is_damaged(lock: Path) -> bool:
    """Return whether a lock is a directory, or a link to nothing."""
    return lock.is_dir() or (lock.is_symlink() and not lock.exists())


def repair_lock(store: Path) -> None:
    """Move a damaged lock aside."""
    lock = store / LOCK
    if is_damaged(lock):
        if lock.is_symlink():
            lock.unlink()
        else:
            lock.rename(store / f"{PREFIX}{uuid.uuid4().hex[:12]}")


def sync(directory: Path) -> None:
    """Flush the files in `directory` to disk, so that a power cut leaves no empty files.

    Raise OSError if they do not fit, which network file systems may report only now.
    """
    for file in directory.iterdir():
        _sync(file)
    sync_names(directory)


def sync_names(directory: Path) -> None:
    """Flush the file names in `directory` to disk."""
    with suppress(OSError):  # a file system that cannot do this does not need it
        _sync(directory)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

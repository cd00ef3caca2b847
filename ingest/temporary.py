"""Temporary files and directories, which go even if their process is killed.

A temporary is locked while it is in use, and the kernel releases the lock when the process dies.
The next process that creates one in the same directory removes those that are not locked. On a file
system without locks (some mounts of Lustre), leftovers stay.
"""

import errno
import fcntl
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PREFIX = ".tracehouse-temporary-"
NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK, errno.EBADF}


@contextmanager
def temporary_file(directory: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Create a file in `directory`, open for writing. Remove it after the body, if it is there.

    The body may rename the file, but must not close it before. Raise OSError if it cannot be
    created.
    """

    def create(path: Path) -> int:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)

    path, descriptor = _created(directory, create)
    with open(descriptor, "wb") as file:
        try:
            yield path, file
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """Create a directory in the system's directory for temporary files. Remove it after the body.

    Only this user can read it. Raise OSError if it cannot be created.
    """

    def create(path: Path) -> int:
        path.mkdir(mode=0o700)
        return os.open(path, os.O_RDONLY)

    path, descriptor = _created(Path(tempfile.gettempdir()), create)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def _created(directory: Path, create: Callable[[Path], int]) -> tuple[Path, int]:
    """Create and lock a temporary. Return its path and the descriptor that holds the lock."""
    _remove_leftovers(directory)
    while True:
        path = directory / f"{PREFIX}{uuid.uuid4().hex[:12]}"
        with suppress(FileNotFoundError):  # removed before it was opened: taken for a leftover
            descriptor = create(path)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    os.close(descriptor)
                    raise
            if path.exists():
                return path, descriptor
            os.close(descriptor)  # removed before it was locked
        directory.stat()  # raises FileNotFoundError if there is no such directory


def _remove_leftovers(directory: Path) -> None:
    """Remove the temporaries of dead processes, if possible."""
    for path in directory.glob(f"{PREFIX}*"):
        with suppress(OSError):  # in use, removed meanwhile, or owned by another user
            is_directory = path.is_dir()
            descriptor = os.open(path, os.O_RDONLY if is_directory else os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if is_directory:
                    shutil.rmtree(path)
                else:
                    path.unlink()
            finally:
                os.close(descriptor)

"""A lock that keeps two sweeps out of the same directory."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from capture.errors import CaptureError

FILE = "sweep.lock"


@contextmanager
def locked(directory: Path) -> Iterator[int]:
    """Lock `directory` against other sweeps while the body runs. Yield the open file descriptor.

    Child processes that inherit the descriptor keep the lock while they run. Raises CaptureError if
    another sweep is running, or if a process of a killed sweep still runs.
    """
    path = directory / FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise CaptureError(f"cannot write {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CaptureError(
                f"{directory}: a process of this sweep is still running; wait for it or end it"
            ) from error
        except OSError as error:
            raise CaptureError(f"cannot lock {path}: {error.strerror}") from error
        yield descriptor
    finally:
        os.close(descriptor)

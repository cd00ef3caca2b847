"""Keeps two sweeps out of one directory."""

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
    """In the body, no other sweep works in `directory`; gives the body the open file.

    Processes that have it open, too, keep it locked as long as they run. Raises CaptureError where
    a sweep is at work, or a process of one that was killed.
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
            raise CaptureError(f"{directory}: a process of this sweep is still at work") from error
        except OSError as error:
            raise CaptureError(f"cannot lock {path}: {error.strerror}") from error
        yield descriptor
    finally:
        os.close(descriptor)

"""What a process keeps for itself because the store cannot be written: an index, empty tables."""

import atexit
import os
import shutil
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

from ingest.store.directory.derived.index import INDEX, index_path, indexes
from ingest.store.directory.derived.indexing import write_index
from ingest.store.directory.derived.template import copy_empty
from ingest.store.directory.files.listing import Listing
from ingest.store.directory.files.places import EMPTY
from ingest.store.faults import Fault
from ingest.temporary import temporary_directory

KEPT_INDEXES = 10  # statements may be reading the latest ones
_directories: dict[int, Path] = {}  # by process, because a fork has its own
_lock = threading.Lock()


def private_directory() -> Path:
    """Return the temporary directory of this process. It is removed when the process ends."""
    process = os.getpid()
    with _lock:
        if process not in _directories:
            stack = ExitStack()
            _directories[process] = stack.enter_context(temporary_directory())
            atexit.register(lambda: stack.close() if os.getpid() == process else None)
        return _directories[process]


def private_index(store: Path, listing: Listing, is_suspect: bool) -> tuple[Path, dict[str, Fault]]:
    """Return an index of the runs in `listing`, and the faults of runs that it lacks.

    `is_suspect` tells whether the store's index may be damaged.
    """
    target = index_path(private_directory(), listing)
    if target.exists():
        return target, {}
    work = Path(tempfile.mkdtemp(dir=private_directory()))
    if faults := write_index(work / INDEX, store, listing, is_suspect=is_suspect):
        return work / INDEX, faults
    (work / INDEX).replace(target)
    shutil.rmtree(work)
    for _, file in indexes(private_directory())[:-KEPT_INDEXES]:
        file.unlink(missing_ok=True)
    return target, {}


def private_empty_directory() -> Path:
    """Return a directory with a file without rows for each table of this version."""
    target = private_directory() / EMPTY
    with _lock:
        if not target.exists():
            work = Path(tempfile.mkdtemp(dir=target.parent))
            copy_empty(work / EMPTY, work / INDEX)
            (work / EMPTY).rename(target)
    return target

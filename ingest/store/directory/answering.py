"""Answers to statements, although a run turns out to be damaged or another process removes it."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb

from ingest.store.directory.derived.index import index_path
from ingest.store.directory.files.detection import is_readable
from ingest.store.directory.files.leases import keeping_files
from ingest.store.directory.files.listing import Listing
from ingest.store.directory.reading.retry import retry_if_removed
from ingest.store.directory.reading.visible import distrust_index, is_distrusted, visible_listing
from ingest.store.faults import StoreWarning, fault_lines

if TYPE_CHECKING:
    from ingest.store.directory.store import Store

RUN_IN_ERROR = re.compile(r"run_id=([^/]+)/")

T = TypeVar("T")


def answer(path: Path, query: Callable[[], T], opened: Callable[[], "Store"]) -> T:
    """Return the result of `query`, as `Storage.answer` does. `opened` opens the store."""
    with keeping_files(path):
        while True:
            before = visible_listing(path) or Listing()
            try:
                return retry_if_removed(query)
            except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException):
                raise  # of the statement, not of the files
            except duckdb.Error as error:
                if _leave_out_damaged(before, str(error), opened) or _index_mended(path, opened):
                    continue
                raise


def _leave_out_damaged(before: Listing, error: str, opened: Callable[[], "Store"]) -> bool:
    """Leave out the damaged runs that an error message names. Return whether there are any.

    `before` is the listing that the statement read.
    """
    named = set(RUN_IN_ERROR.findall(error))
    known = {run.run_id for run in before.runs.values() if run.fault}
    if not named:
        return False
    store = opened()
    store.refresh(suspects=named)
    if not (new := {i: fault for i, fault in store.faults().items() if i in named - known}):
        return False
    for line in fault_lines(new):
        warnings.warn(line, StoreWarning, stacklevel=3)
    return True


def _index_mended(path: Path, opened: Callable[[], "Store"]) -> bool:
    """Write a damaged index anew, for this process alone if the store cannot be written.

    Return whether it was damaged, and is no longer.
    """
    index = index_path(path, visible_listing(path) or Listing())
    if not index.exists() or is_distrusted(index) or is_readable(index):
        return False
    opened().refresh(is_index_suspect=True)
    if not is_readable(index):
        distrust_index(index)
    return True

"""Reads that are retried while other processes write."""

import time
from collections.abc import Callable
from typing import TypeVar

import duckdb

ATTEMPTS = 10

T = TypeVar("T")


def retry_if_removed(query: Callable[[], T]) -> T:
    """Return the result of `query`, which reads a store. Retry if a file was removed or replaced.

    A process that may not write in the store has no lease (files/leases.py), so files may be
    deleted while its statements read them. A retry then sees consistent files.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return query()
        except duckdb.Error as error:
            # A file that contradicts its metadata raises plain duckdb.Error, not a subclass.
            if not isinstance(error, duckdb.IOException) and type(error) is not duckdb.Error:
                raise
            time.sleep(0.01 * attempt)
    return query()

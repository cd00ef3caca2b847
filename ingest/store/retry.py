"""Reading while others write."""

import errno
import os
import time
from collections.abc import Callable
from typing import TypeVar

import duckdb

ATTEMPTS = 10
GONE = (os.strerror(errno.ENOENT), os.strerror(errno.ESTALE))

T = TypeVar("T")


def retry_if_removed(ask: Callable[[], T]) -> T:
    """What `ask` reads of a store; it is asked again where a file has just gone.

    DuckDB first lists a table's files and then opens them: a run that is removed in between fails
    the query, and is not listed the next time.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return ask()
        except duckdb.IOException as error:
            if not any(reason in str(error) for reason in GONE):
                raise
            time.sleep(0.01 * attempt)
    return ask()

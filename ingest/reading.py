"""Reading while others write."""

import errno
import os
from collections.abc import Callable
from typing import TypeVar

import duckdb

from ingest.errors import QueryError

ATTEMPTS = 10
GONE = (os.strerror(errno.ENOENT), os.strerror(errno.ESTALE))

T = TypeVar("T")


def settled(ask: Callable[[], T]) -> T:
    """What `ask` reads of a store; it is asked again where a file has just gone.

    DuckDB first lists a table's files and then opens them: a run that is removed in between fails
    the query, and is not listed the next time. Raises QueryError, with DuckDB's reason.
    """
    attempt = 1
    while True:
        try:
            return ask()
        except duckdb.Error as error:
            is_gone = isinstance(error, duckdb.IOException) and any(w in str(error) for w in GONE)
            if not is_gone or attempt == ATTEMPTS:
                raise QueryError(str(error).strip()) from error
        attempt += 1

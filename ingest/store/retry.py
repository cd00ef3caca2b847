"""Reading while others write."""

import time
from collections.abc import Callable
from typing import TypeVar

import duckdb

ATTEMPTS = 10

T = TypeVar("T")


def retry_if_removed(ask: Callable[[], T]) -> T:
    """What `ask` reads of a store; it is asked again where a file has just gone or changed.

    DuckDB opens a file more than once, to plan a query and to run it. In between, a run can be
    removed, and the index replaced; the next time, all files are of one moment.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return ask()
        except duckdb.Error as error:
            # What does not fit its own metadata is an error of no class of DuckDB's.
            if not isinstance(error, duckdb.IOException) and type(error) is not duckdb.Error:
                raise
            time.sleep(0.01 * attempt)
    return ask()

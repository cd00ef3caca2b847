"""A temporary memory limit for DuckDB."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

MORE = "4GB"  # for one statement that has run out of memory, or surely would

_changing = threading.RLock()  # otherwise one thread could restore the limit that another one set


@contextmanager
def memory_limit(connection: duckdb.DuckDBPyConnection, limit: str | None) -> Iterator[None]:
    """Let the database use up to `limit`, for example "200MB", inside the `with` block.

    The limit applies to all connections to the database, and one thread at a time changes it. A
    smaller limit frees memory at once, for work in Python. None keeps the current limit.
    """
    if limit is None:
        yield
        return
    with _changing:
        [(before,)] = connection.execute("SELECT current_setting('memory_limit')").fetchall()
        connection.execute(f"SET memory_limit = '{limit}'")
        try:
            yield
        finally:
            connection.execute(f"SET memory_limit = '{before}'")

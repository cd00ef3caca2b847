"""A temporary memory limit for DuckDB."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb


@contextmanager
def memory_limit(connection: duckdb.DuckDBPyConnection, limit: str | None) -> Iterator[None]:
    """Let the database use up to `limit`, for example "200MB", inside the `with` block.

    The limit applies to all connections to the database. A smaller limit frees memory at once, for
    work in Python. None keeps the current limit.
    """
    if limit is None:
        yield
        return
    [(before,)] = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    connection.execute(f"SET memory_limit = '{limit}'")
    try:
        yield
    finally:
        connection.execute(f"SET memory_limit = '{before}'")

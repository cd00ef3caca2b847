"""Another memory limit of DuckDB for some statements."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb


@contextmanager
def memory_limit(connection: duckdb.DuckDBPyConnection, limit: str) -> Iterator[None]:
    """Let DuckDB use up to `limit`, for example "200MB", inside the `with` block.

    A smaller limit frees memory at once, for work in Python.
    """
    [(before,)] = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    connection.execute(f"SET memory_limit = '{limit}'")
    try:
        yield
    finally:
        connection.execute(f"SET memory_limit = '{before}'")

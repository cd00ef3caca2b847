"""Connections to a store, and reads that survive the removal or damage of a run."""

import tempfile
import uuid
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest.store.faults import StoreWarning, fault_lines
from ingest.store.opening import kind_of, opened
from ingest.store.place import default_store
from ingest.store.storage import Storage

T = TypeVar("T")


def connect(
    store: str | Path | Storage | None = None, run_ids: Collection[str] = (), only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open an in-memory DuckDB connection with every table, view and macro of the store.

    A store is a directory or a URL. The default is `TRACEHOUSE_STORE` or, if that is not set,
    `./store`. A directory that does not exist is created. With `run_ids`, only answers about these
    runs are right, which is faster at a URL. With `only`, too, the tables show no other runs. Warn
    with StoreWarning about runs that are left out because they are damaged or old. Raise StoreError
    if the store cannot be opened or created.
    """
    store = store or default_store()
    if isinstance(store, str | Path):
        store = opened(store)
    # DuckDB creates this directory only if it needs it.
    spill = Path(tempfile.gettempdir()) / f"tracehouse-{uuid.uuid4().hex[:12]}"
    connection = duckdb.connect(config={"temp_directory": str(spill)})
    store.create_views(connection, run_ids, only)
    for line in fault_lines(store.faults()):
        warnings.warn(line, StoreWarning, stacklevel=2)
    return connection


def read(connection: duckdb.DuckDBPyConnection, query: Callable[[], T]) -> T:
    """Return the result of `query`, which runs in one transaction of a store's connection.

    So all its statements see the same runs. Run it again if a run turns out to be damaged: leave
    the run out of the connection's tables, and warn with StoreWarning.
    """

    def in_transaction() -> T:
        connection.begin()
        try:
            result = query()
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
        return result

    return read_statement(connection, in_transaction)


def read_statement(connection: duckdb.DuckDBPyConnection, query: Callable[[], T]) -> T:
    """Return the result of `query`, which runs a statement that a user wrote. Otherwise as `read`.

    The statement may be one that no transaction can contain.
    """
    [(place,)] = connection.execute("SELECT store_path()").fetchall()
    return kind_of(place).answer(place, query)


@contextmanager
def snapshot(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a cursor whose statements all see the same runs. It keeps their files."""
    [(place,)] = connection.execute("SELECT store_path()").fetchall()
    with kind_of(place).keeping_files(place), connection.cursor() as cursor:
        cursor.begin()
        yield cursor

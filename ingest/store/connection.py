"""Connections to a store, and reads that survive the removal or damage of a run."""

import re
import tempfile
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest import sql
from ingest.store.catalog import CATALOG, UNSOUND, create_path
from ingest.store.faults import StoreWarning, fault_lines
from ingest.store.leases import reading
from ingest.store.reading import VisibleFiles
from ingest.store.retry import retry_if_removed
from ingest.store.store import Store, default_store, existing

RUN_IN_ERROR = re.compile(r"run_id=([^/]+)/")

T = TypeVar("T")


def connect(store: str | Path | Store | None = None) -> duckdb.DuckDBPyConnection:
    """Open an in-memory DuckDB connection with every table, view and macro of the store.

    The default store is `TRACEHOUSE_STORE` or, if that is not set, `./store`. A store that does
    not exist is created. Warn with StoreWarning about runs that are left out because they are
    damaged or old. Raise StoreError if the store cannot be opened or created.
    """
    opened = store if isinstance(store, Store) else Store(store or default_store())
    # DuckDB creates this directory only if it needs it.
    spill = Path(tempfile.gettempdir()) / f"tracehouse-{uuid.uuid4().hex[:12]}"
    connection = duckdb.connect(config={"temp_directory": str(spill)})
    create_views(connection, opened)
    for line in fault_lines(opened.faults()):
        warnings.warn(line, StoreWarning, stacklevel=2)
    return connection


def read(connection: duckdb.DuckDBPyConnection, query: Callable[[], T]) -> T:
    """Return the result of `query`, which reads from a store's connection.

    Run `query` again if a run was removed meanwhile. If a run turns out to be damaged, leave it out
    of the connection's tables, warn with StoreWarning, and run `query` again.
    """
    [(path,)] = connection.execute("SELECT store_path()").fetchall()
    with reading(Path(path)):
        while True:
            try:
                return retry_if_removed(query)
            except duckdb.Error as error:
                if not _leave_out_damaged(path, str(error)):
                    raise


def _leave_out_damaged(path: str, error: str) -> bool:
    """Leave out the damaged runs that an error message names. Return whether there are any."""
    named = set(RUN_IN_ERROR.findall(error))
    if not named:
        return False
    store = existing(path)
    before = store.faults()
    store.refresh(suspects=named)
    if not (new := {i: fault for i, fault in store.faults().items() if i not in before}):
        return False
    for line in fault_lines(new):
        warnings.warn(line, StoreWarning, stacklevel=3)
    return True


def create_views(connection: duckdb.DuckDBPyConnection, store: Store) -> None:
    """Create all tables, views and macros of the store, with comments, in an in-memory connection.

    Also disable the optimizer `UNSOUND`. The definitions are copied from the catalog file if that
    is current, which is faster: to define a view, DuckDB opens a file of each table in the view; to
    copy one, it opens none.
    """
    connection.execute(f"SET disabled_optimizers = '{UNSOUND}'")
    files = VisibleFiles(store.path)
    store.ensure_catalog()
    if store.has_catalog:
        try:
            connection.execute(f"ATTACH {sql.literal(store.path / CATALOG)} AS stored (READ_ONLY)")
        except duckdb.Error:  # missing, damaged, or open for writing elsewhere
            store.write_catalog()
        else:
            connection.execute("COPY FROM DATABASE stored TO memory")
            connection.execute("DETACH stored")
            files.define(connection)
            return
    create_path(connection, store.path)
    files.define(connection)
    store.catalog.define(connection)

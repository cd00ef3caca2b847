"""Connections to a store, and reading that goes on when a run is removed or damaged."""

import re
import tempfile
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest import sql
from ingest.store.catalog import CATALOG, UNSOUND
from ingest.store.faults import StoreWarning, fault_lines
from ingest.store.retry import retry_if_removed
from ingest.store.store import Store, default_store, existing

RUN_IN_ERROR = re.compile(r"run_id=([^/]+)/")

T = TypeVar("T")


def connect(store: str | Path | Store | None = None) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection, in memory, with every table and view of the store.

    Without `store`: `TRACEHOUSE_STORE`, else `./store`. A store that does not exist is created
    empty. Raises StoreError where that is not possible. Of runs that are left out, because they
    are damaged or old, a StoreWarning tells.
    """
    opened = store if isinstance(store, Store) else Store(store or default_store())
    spill = Path(tempfile.gettempdir()) / f"tracehouse-{uuid.uuid4().hex[:12]}"  # made if needed
    connection = duckdb.connect(config={"temp_directory": str(spill)})
    create_views(connection, opened)
    for line in fault_lines(opened.faults()):
        warnings.warn(line, StoreWarning, stacklevel=2)
    return connection


def read(connection: duckdb.DuckDBPyConnection, ask: Callable[[], T]) -> T:
    """What `ask` reads over a connection to a store; it is asked again where that can help.

    That is where a run was being removed, and where the files of one turn out to be damaged: it is
    left out from then on, with a StoreWarning.
    """
    while True:
        try:
            return retry_if_removed(ask)
        except duckdb.Error as error:
            if not _leave_out_damaged(connection, str(error)):
                raise


def _leave_out_damaged(connection: duckdb.DuckDBPyConnection, error: str) -> bool:
    """Leaves out the runs of which an error names a file, if they are damaged; whether any is."""
    named = set(RUN_IN_ERROR.findall(error))
    if not named:
        return False
    [(path,)] = connection.execute("SELECT store_path()").fetchall()
    store = existing(path)
    before = store.faults()
    store.refresh(suspects=named)
    if not (found := {i: fault for i, fault in store.faults().items() if i not in before}):
        return False
    store.catalog.move(connection)
    for line in fault_lines(found):
        warnings.warn(line, StoreWarning, stacklevel=3)
    return True


def create_views(connection: duckdb.DuckDBPyConnection, store: Store) -> None:
    """Gives a connection in memory all tables, views and macros of the store, documented.

    It also switches off the optimizer `UNSOUND`. The names are copied from the catalog where that
    is current: to define a view, DuckDB lists the files of all runs for each table in it; to copy
    one, it lists none.
    """
    connection.execute(f"SET disabled_optimizers = '{UNSOUND}'")
    store.ensure_catalog()
    if store.has_catalog:
        try:
            connection.execute(f"ATTACH {sql.literal(store.path / CATALOG)} AS stored (READ_ONLY)")
        except duckdb.Error:  # missing, damaged, or open for writing elsewhere
            store.write_catalog()
        else:
            connection.execute("COPY FROM DATABASE stored TO memory")
            connection.execute("DETACH stored")
            return
    store.catalog.define(connection)

"""Connections to a store, and reads that survive the removal or damage of a run.

A connection has the views of `ingest/sql/` (`derived/catalog.py` keeps them in a database file).
Its tables are views of the Parquet files of the runs (`reading/visible.py`).
"""

import re
import tempfile
import uuid
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.store.derived.catalog import UNSOUND, create_path
from ingest.store.derived.index import index_path
from ingest.store.files.faults import StoreWarning, fault_lines, is_readable
from ingest.store.files.leases import keeping_files
from ingest.store.files.listing import Listing
from ingest.store.lake.lake import Lake, created
from ingest.store.lake.place import reason
from ingest.store.place import default_store, is_url
from ingest.store.reading.retry import retry_if_removed
from ingest.store.reading.visible import (
    VisibleFiles,
    distrust_index,
    is_distrusted,
    visible_listing,
)
from ingest.store.store import Store, existing

RUN_IN_ERROR = re.compile(r"run_id=([^/]+)/")

T = TypeVar("T")
AnyStore = Store | Lake


def open_place(place: str | Path, as_of: datetime | None = None) -> AnyStore:
    """Open the store at a place to read it, at a URL also as it was at a time.

    Raise StoreError if there is none.
    """
    if is_url(place):
        return Lake(str(place), as_of)
    if as_of:
        raise StoreError(f"{place}: only a store at a URL can be read as it was at a time")
    return existing(place)


def opened(place: str | Path) -> AnyStore:
    """Open the store at a place. A directory that does not exist is created.

    Raise StoreError if it cannot be opened or created.
    """
    return Lake(str(place)) if is_url(place) else Store(place)


def create_place(place: str | Path) -> AnyStore:
    """Open the store at a place to add to it. It is created if it does not exist."""
    return created(str(place)) if is_url(place) else Store(place)


def connect(
    store: str | Path | AnyStore | None = None, run_ids: Collection[str] = ()
) -> duckdb.DuckDBPyConnection:
    """Open an in-memory DuckDB connection with every table, view and macro of the store.

    A store is a directory or a URL. The default is `TRACEHOUSE_STORE` or, if that is not set,
    `./store`. A directory that does not exist is created. With `run_ids`, only answers about these
    runs are right: at a URL, tables are read from files with their rows. Warn with StoreWarning
    about runs that are left out because they are damaged or old. Raise StoreError if the store
    cannot be opened or created.
    """
    store = store or default_store()
    if isinstance(store, str | Path):
        store = opened(store)
    # DuckDB creates this directory only if it needs it.
    spill = Path(tempfile.gettempdir()) / f"tracehouse-{uuid.uuid4().hex[:12]}"
    connection = duckdb.connect(config={"temp_directory": str(spill)})
    create_views(connection, store, run_ids)
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
    [(path,)] = connection.execute("SELECT store_path()").fetchall()
    if is_url(path):
        return _read_lake(path, query)
    with keeping_files(Path(path)):
        while True:
            before = visible_listing(Path(path)) or Listing()
            try:
                return retry_if_removed(query)
            except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException):
                raise  # of the statement, not of the files
            except duckdb.Error as error:
                if not _leave_out_damaged(path, before, str(error)) and not _index_mended(path):
                    raise


def _read_lake(url: str, query: Callable[[], T]) -> T:
    """Return the result of `query`. Raise StoreError if a file of the lake cannot be read."""
    try:
        return query()
    except (duckdb.Error, OSError) as error:
        is_of_file = isinstance(error, duckdb.IOException | duckdb.HTTPException | OSError)
        if is_of_file or f"{url.removeprefix('file://')}/" in str(error):
            raise StoreError(f"{url}: cannot read the store: {reason(error)}") from error
        raise


@contextmanager
def snapshot(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a cursor whose statements all see the same runs. It keeps their files."""
    [(path,)] = connection.execute("SELECT store_path()").fetchall()
    keeping = nullcontext() if is_url(path) else keeping_files(Path(path))
    with keeping, connection.cursor() as cursor:
        cursor.begin()
        yield cursor


def _leave_out_damaged(path: str, before: Listing, error: str) -> bool:
    """Leave out the damaged runs that an error message names. Return whether there are any.

    `before` is the listing that the statement read.
    """
    named = set(RUN_IN_ERROR.findall(error))
    known = {run.run_id for run in before.runs.values() if run.fault}
    if not named:
        return False
    store = existing(path)
    store.refresh(suspects=named)
    if not (new := {i: fault for i, fault in store.faults().items() if i in named - known}):
        return False
    for line in fault_lines(new):
        warnings.warn(line, StoreWarning, stacklevel=3)
    return True


def _index_mended(path: str) -> bool:
    """Write a damaged index anew, for this process alone if the store cannot be written.

    Return whether it was damaged, and is no longer.
    """
    index = index_path(Path(path), visible_listing(Path(path)) or Listing())
    if not index.exists() or is_distrusted(index) or is_readable(index):
        return False
    existing(path).refresh(is_index_suspect=True)
    if not is_readable(index):
        distrust_index(index)
    return True


def create_views(
    connection: duckdb.DuckDBPyConnection, store: AnyStore, run_ids: Collection[str] = ()
) -> None:
    """Create all tables, views and macros of the store, with comments, in an in-memory connection.

    Also disable the optimizer `UNSOUND`. The definitions are copied from the catalog file if that
    is current, which is faster: to define a view, DuckDB opens a file of each table in the view; to
    copy one, it opens none.
    """
    connection.execute(f"SET disabled_optimizers = '{UNSOUND}'")
    if isinstance(store, Lake):
        store.create_views(connection, run_ids)
        return
    files = VisibleFiles(store.path, store.catalog.versions)
    if store.catalog_file.ensure() and (
        _copied(connection, store) or (store.catalog_file.write() and _copied(connection, store))
    ):
        files.define(connection)
        return
    create_path(connection, store.path)
    files.define(connection)
    store.catalog.define(connection)


def _copied(connection: duckdb.DuckDBPyConnection, store: Store) -> bool:
    """Copy the definitions from the catalog file. Return False if it cannot be read.

    It may be missing, damaged, or open for writing elsewhere.
    """
    try:
        connection.execute(f"ATTACH {sql.literal(store.catalog_file.path)} AS stored (READ_ONLY)")
    except duckdb.Error:
        return False
    connection.execute("COPY FROM DATABASE stored TO memory")
    connection.execute("DETACH stored")
    return True

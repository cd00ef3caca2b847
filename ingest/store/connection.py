"""A connection to a store, for Python and notebooks."""

import tempfile
import uuid
from pathlib import Path

import duckdb

from ingest.store.catalog import create_views
from ingest.store.store import Store, default_store


def connect(store: str | Path | None = None) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection, in memory, with every table and view of the store.

    Without `store`: `TRACEHOUSE_STORE`, else `./store`. A store that does not exist is created
    empty. Raises StoreError where that is not possible.
    """
    opened = Store(store or default_store())
    spill = Path(tempfile.gettempdir()) / f"tracehouse-{uuid.uuid4().hex[:12]}"  # made if needed
    connection = duckdb.connect(config={"temp_directory": str(spill)})
    create_views(connection, opened.path)
    return connection

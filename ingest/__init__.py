"""tracehouse's database: profiles in, Parquet tables and DuckDB views out.

>>> import ingest
>>> connection = ingest.connect("store")
>>> connection.sql("SELECT op, device_ns, percent FROM op_ranking ORDER BY device_ns DESC").show()
"""

import tempfile
import uuid
from pathlib import Path

import duckdb

from ingest.catalog import create_views
from ingest.console import Console, Result
from ingest.errors import IngestError, QueryError
from ingest.reading import settled
from ingest.run import RunLabels
from ingest.sql import tables
from ingest.store import Store, default_store

__all__ = [
    "Console",
    "IngestError",
    "QueryError",
    "Result",
    "RunLabels",
    "Store",
    "connect",
    "default_store",
    "settled",
    "tables",
]


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

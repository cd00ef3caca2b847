"""tracehouse's database: profiles in, Parquet tables and DuckDB views out.

>>> import ingest
>>> connection = ingest.connect("store")
>>> connection.sql("SELECT op, device_ns, percent FROM op_ranking ORDER BY device_ns DESC").show()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingest.connection import connect
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

_MODULES = {
    "Console": "console",
    "IngestError": "errors",
    "QueryError": "errors",
    "Result": "console",
    "RunLabels": "run",
    "Store": "store",
    "connect": "connection",
    "default_store": "store",
    "settled": "reading",
    "tables": "sql",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Each name is imported when it is asked for: the command can heed Ctrl-C before that."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

"""The database of tracehouse: model profiles as Parquet tables with DuckDB views.

This is the interface of notebooks and programs. `ingest.server` has what a server of pages needs.

>>> import ingest
>>> connection = ingest.connect("store")
>>> connection.sql("SELECT name, device_ns, percent FROM op_ranking ORDER BY device_ns DESC").show()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingest.comparison.comparison import Comparison, compare
    from ingest.comparison.groups import runs_of
    from ingest.conversion import AddOptions
    from ingest.errors import IngestError, QueryError
    from ingest.reports.sweep import sweep_rows
    from ingest.sql import literal
    from ingest.store.connection import connect, read
    from ingest.store.directory.store import Store
    from ingest.store.faults import StoreWarning
    from ingest.store.place import default_store

__all__ = [
    "AddOptions",
    "Comparison",
    "IngestError",
    "QueryError",
    "Store",
    "StoreWarning",
    "compare",
    "connect",
    "default_store",
    "literal",
    "read",
    "runs_of",
    "sweep_rows",
]

_MODULES = {
    "AddOptions": "conversion",
    "Comparison": "comparison.comparison",
    "IngestError": "errors",
    "QueryError": "errors",
    "Store": "store.directory.store",
    "StoreWarning": "store.faults",
    "compare": "comparison.comparison",
    "connect": "store.connection",
    "default_store": "store.place",
    "literal": "sql",
    "read": "store.connection",
    "runs_of": "comparison.groups",
    "sweep_rows": "reports.sweep",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that the command can handle Ctrl-C earlier."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)

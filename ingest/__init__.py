"""The database of tracehouse: model profiles as Parquet tables with DuckDB views.

>>> import ingest
>>> connection = ingest.connect("store")
>>> connection.sql("SELECT name, device_ns, percent FROM op_ranking ORDER BY device_ns DESC").show()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingest import names, units
    from ingest.comparison.comparison import Comparison, compare
    from ingest.comparison.groups import runs_of
    from ingest.comparison.sweep import sweep_rows
    from ingest.conversion import AddOptions
    from ingest.errors import IngestError, QueryError
    from ingest.perfetto.guard import AddedHeaders, SiteGuard
    from ingest.perfetto.server import ShownTrace, trace_routes
    from ingest.perfetto.traces import trace_of
    from ingest.sandbox import Result, Sandbox
    from ingest.sql import Part, column_meanings, column_unit, literal, parts, start_here, tables
    from ingest.store.connection import connect, read
    from ingest.store.files.faults import StoreWarning, fault_lines
    from ingest.store.store import Store, default_store
    from ingest.store.upkeep import edit

__all__ = [
    "AddOptions",
    "AddedHeaders",
    "Comparison",
    "IngestError",
    "Part",
    "QueryError",
    "Result",
    "Sandbox",
    "ShownTrace",
    "SiteGuard",
    "Store",
    "StoreWarning",
    "column_meanings",
    "column_unit",
    "compare",
    "connect",
    "default_store",
    "edit",
    "fault_lines",
    "literal",
    "names",
    "parts",
    "read",
    "runs_of",
    "start_here",
    "sweep_rows",
    "tables",
    "trace_of",
    "trace_routes",
    "units",
]

_MODULES = {
    "AddOptions": "conversion",
    "AddedHeaders": "perfetto.guard",
    "Comparison": "comparison.comparison",
    "IngestError": "errors",
    "Part": "sql",
    "QueryError": "errors",
    "Result": "sandbox",
    "Sandbox": "sandbox",
    "ShownTrace": "perfetto.server",
    "SiteGuard": "perfetto.guard",
    "Store": "store.store",
    "StoreWarning": "store.files.faults",
    "column_meanings": "sql",
    "column_unit": "sql",
    "compare": "comparison.comparison",
    "connect": "store.connection",
    "default_store": "store.store",
    "edit": "store.upkeep",
    "fault_lines": "store.files.faults",
    "literal": "sql",
    "names": "names",
    "parts": "sql",
    "read": "store.connection",
    "runs_of": "comparison.groups",
    "start_here": "sql",
    "sweep_rows": "comparison.sweep",
    "tables": "sql",
    "trace_of": "perfetto.traces",
    "trace_routes": "perfetto.server",
    "units": "units",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that the command can handle Ctrl-C earlier."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULES[name]}")
    return module if name == _MODULES[name] else getattr(module, name)

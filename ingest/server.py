"""The door for a server of pages: what the dashboard needs beyond the interface of notebooks.

`ingest` itself is the interface of notebooks and programs: stores, connections, comparisons.
"""

from ingest import names, units
from ingest.perfetto.guard import AddedHeaders, SiteGuard
from ingest.perfetto.server import ShownTrace, trace_routes
from ingest.perfetto.traces import trace_of
from ingest.reports import Query, Scalar, Value, call, select
from ingest.sandbox import Result, Sandbox
from ingest.sql import Part, column_meanings, column_unit, parts, start_here, tables
from ingest.store.files.faults import fault_lines

__all__ = [
    "AddedHeaders",
    "Part",
    "Query",
    "Result",
    "Sandbox",
    "Scalar",
    "ShownTrace",
    "SiteGuard",
    "Value",
    "call",
    "column_meanings",
    "column_unit",
    "fault_lines",
    "names",
    "parts",
    "select",
    "start_here",
    "tables",
    "trace_of",
    "trace_routes",
    "units",
]

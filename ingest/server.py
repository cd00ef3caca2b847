"""The door for a server of pages: what the dashboard needs beyond the interface of notebooks.

`ingest` itself is the interface of notebooks and programs: stores, connections, comparisons.
"""

from ingest import names, reports, units
from ingest.perfetto.guard import AddedHeaders, SiteGuard
from ingest.perfetto.server import ShownTrace, trace_routes
from ingest.perfetto.traces import trace_of
from ingest.reports import Query, Scalar, Section, Value, call, select
from ingest.reports.device_memory import DeviceMemory, devices_of
from ingest.sandbox import Result, Sandbox
from ingest.sql import Part, column_meanings, column_unit, parts, start_here, tables
from ingest.store.faults import fault_lines
from ingest.store.opening import opened
from ingest.store.place import is_url
from ingest.store.storage import Storage

__all__ = [
    "AddedHeaders",
    "DeviceMemory",
    "Part",
    "Query",
    "Result",
    "Sandbox",
    "Scalar",
    "Section",
    "ShownTrace",
    "SiteGuard",
    "Storage",
    "Value",
    "call",
    "column_meanings",
    "column_unit",
    "devices_of",
    "fault_lines",
    "is_url",
    "names",
    "opened",
    "parts",
    "reports",
    "select",
    "start_here",
    "tables",
    "trace_of",
    "trace_routes",
    "units",
]

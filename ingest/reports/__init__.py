"""What commands, pages and files say, as data: sections with a title, a query and a note.

A module for each command: `top.py` has what `ingest top` says. Nothing here prints or draws.
"""

from ingest.reports import (
    diff,
    efficiency,
    kernels,
    memory,
    rank_diff,
    rank_path,
    rank_views,
    ranks,
    runs,
    straggler,
    sweep,
    top,
    trace_clocks,
)
from ingest.reports.query import Query, Scalar, Value, call, select
from ingest.reports.section import Section

__all__ = [
    "Query",
    "Scalar",
    "Section",
    "Value",
    "call",
    "diff",
    "efficiency",
    "kernels",
    "memory",
    "rank_diff",
    "rank_path",
    "rank_views",
    "ranks",
    "runs",
    "select",
    "straggler",
    "sweep",
    "top",
    "trace_clocks",
]

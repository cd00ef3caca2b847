"""The SQL files, by topic, and the Python modules that load them.

    <topic>/staged/        tables that file readers fill with uninterpreted rows
    <topic>/macros/        macros for all SQL, of values and of intervals
    <topic>/intermediate/  relations between staged tables and the tables of a run
    <topic>/tables/        tables that the store keeps for each run
    <topic>/views/         views over the tables, and table macros, which are views with parameters
    <topic>/queries/       statements with parameters that Python runs

A file defines one object and is named after it. `glossary.txt` describes columns that several
relations share. It also lists the columns that hold counts. `order.py` sorts the objects so that
each comes after those that it reads.
"""

from ingest.sql.columns import column_meanings, column_unit
from ingest.sql.dependencies import Condition
from ingest.sql.headers import Documentation, Filling
from ingest.sql.inline import index_version, indexed_rows, no_rows
from ingest.sql.keys import Reference, key_references
from ingest.sql.literals import literal
from ingest.sql.loader import (
    SqlFile,
    files,
    indexed,
    macros,
    of_kind,
    query,
    relations,
    row_counts,
    tables,
    views,
)
from ingest.sql.of_run import rows_of
from ingest.sql.order import Node, OrderError, definitions_of_run, in_order, nodes
from ingest.sql.parts import Part, parts
from ingest.sql.topics import TOPICS, Topic, of_topic, start_here
from ingest.sql.versions import (
    EARLIER_NAMES,
    added_columns,
    digest,
    logic_version,
    schema_version,
    table_columns,
)

__all__ = [
    "EARLIER_NAMES",
    "TOPICS",
    "Condition",
    "Documentation",
    "Filling",
    "Node",
    "OrderError",
    "Part",
    "Reference",
    "SqlFile",
    "Topic",
    "added_columns",
    "column_meanings",
    "column_unit",
    "definitions_of_run",
    "digest",
    "files",
    "in_order",
    "index_version",
    "indexed",
    "indexed_rows",
    "key_references",
    "literal",
    "logic_version",
    "macros",
    "no_rows",
    "nodes",
    "of_kind",
    "of_topic",
    "parts",
    "query",
    "relations",
    "row_counts",
    "rows_of",
    "schema_version",
    "start_here",
    "table_columns",
    "tables",
    "views",
]

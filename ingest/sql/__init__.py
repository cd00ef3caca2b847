"""The SQL: tables of a run, views and macros over them, by topic; and what reads their files.

    <topic>/staged/    tables that readers of files fill, before any meaning is given to the rows
    <topic>/macros/    scalar macros, for all SQL
    <topic>/load/      relations on the way from staged tables to the tables of a run
    <topic>/tables/    tables that the store keeps for each run
    <topic>/views/     views over them, and table macros, which are views with parameters
    <topic>/queries/   statements with parameters that Python runs

A file holds one object, named after the file. The order in which the objects are created is
derived from what they read (`order.py`); nobody keeps a list.
"""

from ingest.sql.inline import indexed_rows, no_rows, read_by_index
from ingest.sql.keys import Reference, key_references
from ingest.sql.literals import literal
from ingest.sql.loader import (
    Documentation,
    Filling,
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
from ingest.sql.order import Node, OrderError, in_order, nodes
from ingest.sql.parts import Part, parts
from ingest.sql.references import Condition
from ingest.sql.topics import TOPICS, Topic, of_topic, start_here
from ingest.sql.versions import digest, logic_version, schema_version, table_columns

__all__ = [
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
    "digest",
    "files",
    "in_order",
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
    "read_by_index",
    "relations",
    "row_counts",
    "schema_version",
    "start_here",
    "table_columns",
    "tables",
    "views",
]

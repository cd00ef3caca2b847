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

from ingest.sql.keys import Reference, key_references
from ingest.sql.literals import literal
from ingest.sql.loader import (
    Documentation,
    Filling,
    SqlFile,
    files,
    macros,
    of_kind,
    query,
    relations,
    tables,
    views,
)
from ingest.sql.order import Node, OrderError, in_order, nodes
from ingest.sql.parts import Part, parts
from ingest.sql.references import Condition
from ingest.sql.topics import TOPICS, Topic, of_topic, start_here

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
    "files",
    "in_order",
    "key_references",
    "literal",
    "macros",
    "nodes",
    "of_kind",
    "of_topic",
    "parts",
    "query",
    "relations",
    "start_here",
    "tables",
    "views",
]

"""From the staged tables to the tables of a run: the SQL files, in the order they are to run."""

from collections.abc import Callable, Mapping

import duckdb

from ingest import sql
from ingest.pipeline.nesting import nest
from ingest.pipeline.replay import replay

Step = Callable[[duckdb.DuckDBPyConnection, tuple[str, ...], tuple[str, ...]], None]

# Steps in Python, by the name that `Filled by:` in a SQL file's header gives them. Each gets the
# relations that it reads and the tables that it fills.
STEPS: Mapping[str, Step] = {"nest": nest, "replay": replay}


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the staged tables, for the readers of files to fill, and the scalar macros."""
    for node in sql.nodes("scratch"):
        file = sql.files()[node.name]
        if file.kind in ("staged", "macros"):
            connection.execute(file.statement)


def build(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Creates all other relations, and returns the names of those that are empty.

    A relation that is empty because an input is empty is created as an empty table, and its SQL
    does not run: most runs hold no memory snapshot and no compile log, and half of the SQL is about
    these.
    """
    empty: set[str] = set()
    filled: set[sql.Filling] = set()
    for node in sql.nodes("scratch"):
        file = sql.files()[node.name]
        if file.kind == "macros":
            continue
        if file.kind != "staged":
            if _holds(node.empty_if, empty):
                connection.execute(node.ddl)
                empty.add(node.name)
                continue
            if not file.filled_by:
                connection.execute(file.statement)
            elif file.filled_by not in filled:
                _fill(connection, file.filled_by)
                filled.add(file.filled_by)
        is_table = file.is_ddl or file.materialised
        if is_table and not connection.execute(f"FROM {node.name} LIMIT 1").fetchall():
            empty.add(node.name)
    return frozenset(empty)


def _fill(connection: duckdb.DuckDBPyConnection, filling: sql.Filling) -> None:
    tables = [file for file in sql.of_kind("load") if file.filled_by == filling]
    for table in tables:
        connection.execute(table.statement)
    STEPS[filling.step](connection, filling.reads, tuple(table.name for table in tables))


def _holds(condition: sql.Condition, empty: set[str]) -> bool:
    """Whether a relation with this condition is empty, given those that are known to be."""
    if isinstance(condition, bool):
        return condition
    if isinstance(condition, str):
        return condition in empty
    word, *parts = condition
    holds = [_holds(part, empty) for part in parts]
    return any(holds) if word == "any" else all(holds)

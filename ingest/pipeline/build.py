"""Execution of the SQL files that turn the staged tables into the tables of a run."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache
from typing import NamedTuple

import duckdb

from ingest import sql
from ingest.pipeline.critical_path import find_paths
from ingest.pipeline.nesting import nest
from ingest.pipeline.replay import replay
from ingest.pipeline.statements import Statements

Step = Callable[[duckdb.DuckDBPyConnection, tuple[str, ...], tuple[str, ...]], None]

# Steps in Python, by their name after `Filled by:` in the header of a SQL file. The arguments are
# the relations that the step reads and the tables that it fills.
STEPS: Mapping[str, Step] = {"nest": nest, "replay": replay, "find_paths": find_paths}
FEW = 10_000  # up to this number of staged rows, optimising the order of joins does not pay off


def prepare(connection: duckdb.DuckDBPyConnection, workers: int = 1) -> None:
    """Create the staged tables, which the readers of files fill, and the scalar macros."""

    def create(cursor: duckdb.DuckDBPyConnection, kind: str) -> None:
        for node in sql.nodes("scratch"):
            if sql.files()[node.name].kind == kind:
                cursor.execute(sql.files()[node.name].statement)

    with Statements(connection, workers) as statements:
        for created in [statements.submit(create, kind) for kind in ("macros", "staged")]:
            created.result()


def build(connection: duckdb.DuckDBPyConnection, workers: int = 1) -> frozenset[str]:
    """Create all other relations, and return the names of those that are empty.

    `workers`: number of independent relations created at the same time. Planning a statement keeps
    one core busy, even if there are few rows.

    If a relation is empty because an input is empty, its SQL does not run. Most runs have no memory
    snapshot and no compile log, and half of the SQL is about these. Such a relation is created, as
    an empty table, only if a relation that may have rows reads it.
    """
    staged = [file.name for file in sql.of_kind("staged")]
    rows = dict(connection.execute(sql.row_counts(staged)).fetchall())
    if sum(rows.values()) <= FEW:
        connection.execute("SET disabled_optimizers = 'join_order'")
    empty = {name for name in staged if not rows[name]}
    known = set(staged)
    missing: dict[str, sql.Node] = {}
    waiting = list(_tasks())
    running: dict[Future[set[str]], _Task] = {}
    with Statements(connection, workers) as statements:
        while waiting or running:
            while len(running) < workers and (task := _next(waiting, known)):
                waiting.remove(task)
                if _holds(task.nodes[0].empty_if, empty):
                    missing |= {node.name: node for node in task.nodes}
                    empty |= task.names
                    known |= task.names
                    continue
                for name in missing.keys() & task.reads:
                    connection.execute(missing.pop(name).ddl)
                running[statements.submit(_create, task)] = task
            if waiting and not running:
                raise sql.OrderError(
                    f"{waiting[0].nodes[0].name} reads a relation that nothing creates"
                )
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                known |= running.pop(done).names
                empty |= done.result()
    return frozenset(empty)


class _Task(NamedTuple):
    """Relations that are created together: a single one, or those that a step in Python fills."""

    nodes: tuple[sql.Node, ...]
    reads: frozenset[str]

    @property
    def names(self) -> set[str]:
        return {node.name for node in self.nodes}


@cache
def _tasks() -> tuple[_Task, ...]:
    """Return all tasks, in the order in which a single worker does them."""
    nodes = {node.name: node for node in sql.nodes("scratch")}

    def relations(node: sql.Node) -> set[str]:
        """Return the relations that a node reads, directly or through macros."""
        read = set(node.reads)
        macros = {name for name in read if sql.files()[name].kind == "macros"}
        return (read - macros).union(*(relations(nodes[name]) for name in macros))

    groups: dict[object, list[sql.Node]] = {}
    for node in nodes.values():
        file = sql.files()[node.name]
        if file.kind not in ("staged", "macros"):
            groups.setdefault(file.filled_by or node.name, []).append(node)
    return tuple(_Task(tuple(group), frozenset(relations(group[0]))) for group in groups.values())


def _next(waiting: Sequence[_Task], known: set[str]) -> _Task | None:
    """Return the first task whose inputs all exist."""
    return next((task for task in waiting if task.reads <= known), None)


def _create(connection: duckdb.DuckDBPyConnection, task: _Task) -> set[str]:
    """Create a task's relations. Return those that are known to be empty."""
    files = [sql.files()[node.name] for node in task.nodes]
    for file in files:
        created = connection.execute(file.statement)
        if file.materialised and created.fetchall() == [(0,)]:
            return task.names
    if not (filling := files[0].filled_by):
        return set()
    STEPS[filling.step](connection, filling.reads, tuple(file.name for file in files))
    counts = connection.execute(sql.row_counts(task.names)).fetchall()
    return {name for name, rows in counts if not rows}


def _holds(condition: sql.Condition, empty: set[str]) -> bool:
    """Return whether a condition for being empty holds. `empty`: relations known to be empty."""
    if isinstance(condition, bool):
        return condition
    if isinstance(condition, str):
        return condition in empty
    combination, *parts = condition
    holds = [_holds(part, empty) for part in parts]
    return any(holds) if combination == "any" else all(holds)

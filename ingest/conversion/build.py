"""Execution of the SQL files that turn the staged tables into the tables of a run.

`ingest/sql/order.py` derives the order of the files, which is in `generated_order.json`.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache
from typing import NamedTuple

import duckdb

from ingest import sql
from ingest.conversion.critical_path import find_paths
from ingest.conversion.nest import nest
from ingest.conversion.replay import replay
from ingest.conversion.statements import Statements
from ingest.conversion.work import compute_work
from ingest.memory_limit import MORE, memory_limit

PythonStep = Callable[[duckdb.DuckDBPyConnection, tuple[str, ...], tuple[str, ...]], None]

# Steps in Python, by their name after `Filled by:` in the header of a SQL file. The arguments are
# the relations that the step reads and the tables that it fills.
STEPS: Mapping[str, PythonStep] = {
    "nest": nest,
    "replay": replay,
    "find_paths": find_paths,
    "compute_work": compute_work,
}
Texts = dict[tuple[str, str], set[str]]  # texts that occur, by staged table and column
# Up to this number of staged rows, a run is small: planning takes longer than reading rows, and
# optimising the order of joins does not pay off.
FEW_ROWS = 10_000
# With more staged rows, statements that run at the same time share too little memory.
MANY_ROWS = 1_500_000


def build(
    connection: duckdb.DuckDBPyConnection,
    workers: int = 1,
    only: frozenset[str] = frozenset(),
    progress: Callable[[float], None] | None = None,
) -> frozenset[str]:
    """Fill the tables of a scratch database, and return the names of the relations without rows.

    `workers`: number of independent tables filled at the same time; one if there are more than
    `MANY_ROWS` staged rows. Planning a statement keeps one core busy, and so does a step in Python.
    What runs out of memory beside another statement runs again alone, and what does so alone runs
    again with more memory. `only`: relations that are
    wanted; all if it is empty. `progress`: called with the share of the relations that are filled.

    If a relation is empty because an input is empty, its SQL does not run. Most runs have no memory
    snapshot and no compile log, and half of the SQL is about these.
    """
    staged = [file.name for file in sql.of_kind("staged")]
    rows = dict(connection.execute(sql.row_counts(staged)).fetchall())
    texts: Texts = {}
    all_rows = sum(rows.values())
    has_few_rows = all_rows <= FEW_ROWS
    at_once = workers if all_rows <= MANY_ROWS else 1
    if has_few_rows:
        connection.execute("SET disabled_optimizers = 'join_order'")
        texts = texts_of(connection, {name for name in staged if rows[name]})
    empty = {name for name in staged if not rows[name]}
    known = {*staged, *constants()}
    waiting = [task for task in (_needed(only) if only else tasks()) if task.names - known]
    count = len(waiting)
    running: dict[Future[set[str]], Task] = {}
    done: Future[set[str]] | None
    beside: list[Task] = []  # those that started while another one could run
    with Statements(connection, at_once) as statements:
        while waiting or running:
            while len(running) < at_once and (task := _next(waiting, known)):
                waiting.remove(task)
                if holds(task.nodes[0].empty_if, empty, texts):
                    known |= task.names
                    empty |= task.names
                elif task.is_view(has_few_rows):
                    known |= task.names
                else:
                    if at_once > 1:
                        beside.append(task)
                    running[statements.submit(_fill, task)] = task
            if waiting and not running:
                raise sql.OrderError(
                    f"{waiting[0].nodes[0].name} reads a relation that nothing creates"
                )
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(done)
                try:
                    empty |= done.result()
                    known |= task.names
                except (duckdb.OutOfMemoryException, OSError):  # OSError: while a step reads rows
                    if task in beside:
                        beside.remove(task)
                        at_once = 1
                        waiting.insert(0, task)
                    else:
                        with memory_limit(connection, MORE):
                            empty |= _fill(connection, task)
                        known |= task.names
            if progress:
                progress(1 - (len(waiting) + len(running)) / count)
            done = None  # it may hold what a failed step had in memory
    return frozenset(empty)


class Task(NamedTuple):
    """Relations that are filled together: a single one, or those that a step in Python fills."""

    nodes: tuple[sql.Node, ...]
    reads: frozenset[str]

    @property
    def names(self) -> set[str]:
        return {node.name for node in self.nodes}

    def is_view(self, has_few_rows: bool) -> bool:
        file = sql.files()[self.nodes[0].name]
        is_table = file.materialised or file.stored or file.filled_by
        return not (is_table or (has_few_rows and file.materialised_if_small))


@cache
def tasks() -> tuple[Task, ...]:
    """Return all tasks, in the order in which a single worker does them."""
    return tasks_of(sql.nodes("scratch"))


@cache
def constants() -> frozenset[str]:
    """Return the materialised relations that read no relation. A new scratch database has them."""
    return frozenset(
        task.nodes[0].name
        for task in tasks()
        if not task.reads and sql.files()[task.nodes[0].name].materialised
    )


@cache
def _needed(names: frozenset[str]) -> tuple[Task, ...]:
    """Return the tasks that these relations need, in order."""
    wanted = set(names)
    needed = []
    for task in reversed(tasks()):
        if not wanted.isdisjoint(task.names):
            needed.append(task)
            wanted |= task.reads
    return tuple(reversed(needed))


def tasks_of(ordered: Sequence[sql.Node]) -> tuple[Task, ...]:
    """Return the tasks of all relations of the scratch database, which are in a valid order."""
    nodes = {node.name: node for node in ordered}

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
    return tuple(Task(tuple(group), frozenset(relations(group[0]))) for group in groups.values())


def _next(waiting: Sequence[Task], known: set[str]) -> Task | None:
    """Return the first task whose inputs all exist."""
    return next((task for task in waiting if task.reads <= known), None)


def _fill(connection: duckdb.DuckDBPyConnection, task: Task) -> set[str]:
    """Fill a task's tables. Return those that are known to be empty."""
    file = sql.files()[task.nodes[0].name]
    if file.materialised_if_small:
        connection.execute(f"DROP VIEW IF EXISTS {file.name}")
        created = connection.execute(f"CREATE TABLE {file.name} AS FROM {sql.rows_of(file)}")
        return task.names if created.fetchall() == [(0,)] else set()
    if not (filling := file.filled_by):
        inserted = connection.execute(f"INSERT INTO {file.name} FROM {sql.rows_of(file)}")
        return task.names if inserted.fetchall() == [(0,)] else set()
    fills = tuple(node.name for node in task.nodes)
    for name in fills:
        connection.execute(f"DELETE FROM {name}")  # what an attempt without memory inserted
    STEPS[filling.step](connection, filling.reads, fills)
    counts = connection.execute(sql.row_counts(task.names)).fetchall()
    return {name for name, rows in counts if not rows}


def texts_of(connection: duckdb.DuckDBPyConnection, tables: set[str]) -> Texts:
    """Return which of the texts that conditions for being empty name are in columns of `tables`."""
    texts: Texts = {(table, column): set() for table, column in _named_texts() if table in tables}
    query = " UNION ALL ".join(
        f"SELECT DISTINCT '{table}', '{column}', {column} FROM {table} "
        f"WHERE {column} IN ({', '.join(map(sql.literal, _named_texts()[table, column]))})"
        for table, column in texts
    )
    for table, column, text in connection.execute(query).fetchall() if query else ():
        texts[table, column].add(text)
    return texts


@cache
def _named_texts() -> dict[tuple[str, str], list[str]]:
    """Return the texts that conditions for being empty name, by staged table and column."""
    found: dict[tuple[str, str], list[str]] = {}

    def search(condition: sql.Condition) -> None:
        if isinstance(condition, list):
            word, *parts = condition
            if word == "without":
                table, column, *texts = parts
                listed = found.setdefault((table, column), [])
                listed += [text for text in texts if text not in listed]
            else:
                for part in parts:
                    search(part)

    for task in tasks():
        search(task.nodes[0].empty_if)
    return found


def holds(condition: sql.Condition, empty: set[str], texts: Texts) -> bool:
    """Return whether a condition for being empty holds.

    `empty`: relations known to be empty. `texts`: texts of known columns.
    """
    if isinstance(condition, bool):
        return condition
    if isinstance(condition, str):
        return condition in empty
    word, *parts = condition
    if word == "without":
        table, column, *needed = parts
        return (table, column) in texts and texts[table, column].isdisjoint(needed)
    held = [holds(part, empty, texts) for part in parts]
    return any(held) if word == "any" else all(held)

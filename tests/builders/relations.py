"""Relations of small runs, created in memory by the product's own SQL and steps, without a store.

Tests of single relations use this. It takes a fraction of the time of `Store.add`, because it
creates only what a query reads, and writes no Parquet files, index or catalog.
"""

import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

import ingest
from ingest import AddOptions, sql
from ingest.conversion import stage_run, utc_now
from ingest.conversion.build import STEPS, holds, tasks_of, texts_of
from ingest.formats import Source
from ingest.inputs import read_run_input
from ingest.store.directory.derived.catalog import UNSOUND
from tests.builders.events import Event

CONFIG = {"threads": 1, "preserve_insertion_order": False}


@dataclass(frozen=True)
class Run:
    """The files of a run by name, with their contents: text, bytes or JSON; and its labels."""

    files: Mapping[str, Any]
    options: AddOptions = field(default_factory=AddOptions)


# A run, the events or the text of its only file, or the path of its file or directory.
Input = Run | Sequence[Event] | str | bytes | Path


def trace(events: Sequence[Event], options: AddOptions | None = None, **metadata: object) -> Run:
    """Return a run with one trace: these events and `metadata`."""
    return Run({"trace.json": {**metadata, "traceEvents": events}}, options or AddOptions())


def ranks(traces: Iterable[Any]) -> Run:
    """Return a run whose ranks are these traces: lists of events, or contents of files."""
    files = {}
    for rank, each in enumerate(traces):
        recorded = {"distributedInfo": {"rank": rank}, "traceEvents": each}
        files[f"t_rank{rank}.json"] = recorded if isinstance(each, list) else each
    return Run(files)


def built(runs: Input | Mapping[str, Input], *relations: str, **metadata: object) -> "Relations":
    """Return the relations of a run, or of several runs by `run_id`.

    A query creates the relations that it names. `relations` are created at once. The id of a single
    run is `run`. `metadata` is that of the trace, if `runs` is a list of events.
    """
    if metadata:
        runs = trace(runs, **metadata)  # type: ignore[arg-type]
    by_id = runs if isinstance(runs, Mapping) else {"run": runs}
    found = Relations({run_id: _Scratch(run, run_id) for run_id, run in by_id.items()})
    found.create(relations)
    return found


class Relations:
    """Relations of runs in a database in memory: tables, views and macros of the catalog.

    Relations of the scratch database also have a `run_id` here.
    """

    def __init__(self, runs: Mapping[str, "_Scratch"]) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute(f"SET disabled_optimizers = '{UNSOUND}'")
        self._runs = runs
        self._created: set[str] = set()

    @property
    def sources(self) -> list[Source]:
        """The files of all runs."""
        return [source for run in self._runs.values() for source in run.sources]

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """Create what a query reads. Return its rows."""
        self.create(re.findall(r"\w+", query))
        return self.connection.sql(query)

    def execute(self, query: str, parameters: object = None) -> duckdb.DuckDBPyConnection:
        """Create what a query reads, and run it. Return the connection, which has its rows."""
        self.create(re.findall(r"\w+", query))
        return self.connection.execute(query, parameters)

    def by_rank(self, query: str) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each rank. The first column of the query is the rank."""
        found: dict[int, list[tuple[Any, ...]]] = {}
        for rank, *row in self.sql(query).fetchall():
            found.setdefault(rank, []).append(tuple(row))
        return [found.get(rank, []) for rank in range(max(found) + 1)]

    def create(self, names: Iterable[str]) -> None:
        """Create those of the named relations that do not exist yet, and all that they read."""
        named = tuple(sorted({name for name in names if name in sql.files()}))
        defined = [node for node in _closure("catalog", named) if node.name not in self._created]
        in_catalog = {node.name for node in sql.nodes("catalog")}
        wanted = {node.name for node in defined} | (set(named) - in_catalog - self._created)
        copied = [
            node
            for node in sql.nodes("scratch")
            if node.name in wanted and node.columns and sql.files()[node.name].kind != "views"
        ]
        for node in copied:
            self.connection.execute(node.ddl.replace("(", "(run_id VARCHAR, ", 1))
        for run_id, run in self._runs.items():
            for name, rows in run.rows([node.name for node in copied]):
                self.connection.register("incoming", rows)
                self.connection.execute(f"INSERT INTO {name} SELECT $1, * FROM incoming", [run_id])
                self.connection.unregister("incoming")
        for node in defined:
            if sql.files()[node.name].kind != "tables":
                self.connection.execute(sql.files()[node.name].statement)
        self._created |= wanted


class _Scratch:
    """The scratch database of a run: its staged tables, and relations created from them."""

    def __init__(self, run: Input, run_id: str) -> None:
        self.connection = duckdb.connect(config=CONFIG)
        self.connection.execute("SET disabled_optimizers = 'join_order'")
        self._created: set[str] = set()
        self._empty: set[str] = set()
        staged = [file.name for file in sql.of_kind("staged")]
        for node in (*_closure("scratch", _from_python()), *_closure("scratch", tuple(staged))):
            self._define(node)
        with tempfile.TemporaryDirectory() as directory:
            path, options = _written(run, Path(directory) / run_id)
            read = read_run_input(path)
            stage_run(self.connection, read, options, utc_now())
            self.sources = read.sources
        rows = dict(self.connection.execute(sql.row_counts(staged)).fetchall())
        self._empty = {name for name in staged if not rows[name]}
        self._texts = texts_of(self.connection, set(staged) - self._empty)

    def rows(self, names: Sequence[str]) -> list[tuple[str, Any]]:
        """Create these relations. Return those that may have rows, with their rows."""
        self._create(names)
        return [
            (name, self.connection.sql(f"FROM {name}").to_arrow_table())
            for name in names
            if name not in self._empty
        ]

    def _define(self, node: sql.Node) -> None:
        file = sql.files()[node.name]
        created = self.connection.execute(file.statement)
        if file.materialised and created.fetchall() == [(0,)]:
            self._empty.add(node.name)
        self._created.add(node.name)

    def _create(self, names: Sequence[str]) -> None:
        """Create relations and what they read. Those without rows are created empty."""
        needed = _closure("scratch", tuple(names))
        for node in needed:
            if sql.files()[node.name].kind == "macros" and node.name not in self._created:
                self._define(node)
        for nodes, *_ in tasks_of(needed):
            if nodes[0].name in self._created:
                continue
            if holds(nodes[0].empty_if, self._empty, self._texts):
                for node in nodes:
                    self.connection.execute(node.ddl)
                self._created |= {node.name for node in nodes}
                self._empty |= {node.name for node in nodes}
                continue
            for node in nodes:
                self._define(node)
            if filling := sql.files()[nodes[0].name].filled_by:
                fills = tuple(node.name for node in nodes)
                STEPS[filling.step](self.connection, filling.reads, fills)


def _written(run: Input, directory: Path) -> tuple[Path, AddOptions]:
    """Return the path of a run, and its labels. Write its files into `directory` if needed."""
    if isinstance(run, Path):
        return run, AddOptions()
    if isinstance(run, str | bytes):
        run = Run({"trace.json": run})
    elif not isinstance(run, Run):
        run = trace(run)
    directory.mkdir()
    for name, content in run.files.items():
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        directory.joinpath(name).parent.mkdir(exist_ok=True)
        directory.joinpath(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return directory, run.options


@cache
def _from_python() -> tuple[str, ...]:
    """Return the macros that the readers of files and the steps in Python call."""
    modules = Path(ingest.__file__).parent.rglob("*.py")
    statements = [sql.query(file.name) for file in sql.of_kind("queries")]
    texts = {"formulas", "work"}  # topics whose macros have SQL as text, or are called by it
    statements += [file.body for file in sql.of_kind("macros") if file.topic in texts]
    called = set(re.findall(r"(\w+)\(", "".join([*statements, *map(Path.read_text, modules)])))
    return tuple(file.name for file in sql.of_kind("macros") if file.name in called)


@cache
def _closure(database: str, names: tuple[str, ...]) -> tuple[sql.Node, ...]:
    """Return the nodes of a database that these names need, in order."""
    nodes = {node.name: node for node in sql.nodes(database)}
    fillings: dict[object, list[str]] = {}
    for name in nodes:
        fillings.setdefault(sql.files()[name].filled_by or name, []).append(name)
    found: set[str] = set()
    waiting = [name for name in names if name in nodes]
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            filled = fillings[sql.files()[name].filled_by or name]
            waiting += [*nodes[name].reads, *filled]
    return tuple(node for node in nodes.values() if node.name in found)

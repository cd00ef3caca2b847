"""The order in which the SQL files can run, derived from what each file reads.

Deriving the order takes a third of a second. Therefore `python -m ingest.sql` writes it to
`generated_order.json`, and a test compares that file with the SQL.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from ingest.sql.dependencies import Condition, Reader
from ingest.sql.loader import IN_CATALOG, IN_SCRATCH, files
from ingest.sql.of_run import definitions, read_by

ORDER_FILE = Path(__file__).parent / "generated_order.json"
# Scalar macros that queries over the catalog use, in addition to those that its views use.
MACROS_OF_QUERIES = {
    "chrome_moved",
    "chrome_tid",
    "device_label",
    "joined_args",
    "kernel_args",
    "link_args",
    "op_args",
    "side",
}
# Scalar macros that compute columns for runs of earlier versions; see `versions.py`.
MACROS_OF_VERSIONS = {"recorded_conditions", "recorded_devices"}


class OrderError(ValueError):
    """The SQL files have no order, because of a cycle or a missing relation or macro."""


@dataclass(frozen=True)
class Node:
    """An object in the order, with the names of the objects that it reads.

    A relation of the scratch database also has the condition under which it is empty, and its
    columns with their types.
    """

    name: str
    reads: tuple[str, ...]
    empty_if: Condition = False
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def ddl(self) -> str:
        """The statement that creates the relation as an empty table."""
        listed = ", ".join(f'"{name}" {kind}' for name, kind in self.columns.items())
        return f"CREATE TABLE {self.name} ({listed})"


def in_order(reads: Mapping[str, Iterable[str]], first: Sequence[str] = ()) -> list[str]:
    """Sort names so that each comes after everything that it reads.

    The names in `first` come as early as possible. Raise OrderError if there is a cycle, or if an
    object reads something that does not exist. The message names both objects.
    """
    ordered: list[str] = []
    above: list[str] = []

    def add(name: str) -> None:
        if name in above:
            cycle = " reads ".join([*above[above.index(name) :], name])
            raise OrderError(f"cycle: {cycle}")
        if name in ordered:
            return
        above.append(name)
        for read in sorted(reads[name]):
            if read not in reads:
                raise OrderError(f"{name} reads {read}, but there is no such relation or macro")
            add(read)
        above.pop()
        ordered.append(name)

    for name in (*first, *sorted(reads)):
        add(name)
    return ordered


def derive() -> dict[str, list[Node]]:
    """Derive the orders of the scratch database and of the catalog from the SQL files."""
    with duckdb.connect() as connection:
        scratch = {name: file for name, file in files().items() if file.kind in IN_SCRATCH}
        reader = Reader(connection, scratch)
        catalog = _catalog(connection)
        nodes = [
            Node(name, tuple(sorted(reader.reads(name))), reader.empty_if(name))
            for name in in_order({name: reader.reads(name) for name in scratch})
        ] + _stored(connection, catalog)
        for file in (scratch[node.name] for node in nodes if node.name in scratch):
            connection.execute(file.statement)
        for statement in definitions({node.name: node.reads for node in catalog}):
            connection.execute(statement)
        columns = _columns(connection)
        return {
            "scratch": [
                Node(node.name, node.reads, node.empty_if, columns.get(node.name, {}))
                for node in nodes
            ],
            "catalog": catalog,
        }


def _stored(connection: duckdb.DuckDBPyConnection, catalog: Sequence[Node]) -> list[Node]:
    """Return the views that the store keeps, as tables that read other tables."""
    reads = {node.name: node.reads for node in catalog}
    reader = Reader(connection, {name: files()[name] for name in reads})

    def of_tables(condition: Condition) -> Condition:
        if isinstance(condition, str) and not files()[condition].is_table:
            return of_tables(reader.empty_if(condition))
        if isinstance(condition, list):
            word, *parts = condition
            return condition if word == "without" else [word, *map(of_tables, parts)]
        return condition

    return [
        Node(
            node.name,
            tuple(name for name in read_by([node.name], reads) if files()[name].is_table),
            of_tables(reader.empty_if(node.name)),
        )
        for node in catalog
        if files()[node.name].stored
    ]


def _catalog(connection: duckdb.DuckDBPyConnection) -> list[Node]:
    """Return the catalog's tables, views and macros, with only those of `macros/` that are used."""
    catalog = {name: file for name, file in files().items() if file.kind in IN_CATALOG}
    reader = Reader(connection, catalog)
    reads = {
        name: set() if file.kind == "tables" else reader.reads(name)
        for name, file in catalog.items()
    }
    ordered = in_order(reads)
    used = (
        MACROS_OF_QUERIES
        | MACROS_OF_VERSIONS
        | {read for name in reads for read in reads[name] if catalog[name].kind == "views"}
    )
    for name in reversed(ordered):
        if name in used:
            used |= reads[name]
    return [
        Node(name, tuple(sorted(reads[name])))
        for name in ordered
        if name in used or catalog[name].kind != "macros"
    ]


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return the columns of each relation of the database."""
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE NOT internal AND schema_name = 'main' ORDER BY table_name, column_index"
    ).fetchall():
        columns.setdefault(table, {})[column] = kind
    return columns


@cache
def generated() -> dict[str, Any]:
    """Return the content of `generated_order.json`: the version of the logic, and the orders."""
    return dict(json.loads(ORDER_FILE.read_text(encoding="utf-8")))


@cache
def nodes(database: str) -> tuple[Node, ...]:
    """Return the generated order of a database, `scratch` or `catalog`."""
    return tuple(
        Node(name, tuple(entry["reads"]), entry.get("empty_if", False), entry.get("columns", {}))
        for name, entry in generated()[database].items()
    )


def definitions_of_run() -> Iterator[str]:
    """Yield the statements that define the stored views in a scratch database, as empty tables."""
    return definitions({node.name: node.reads for node in nodes("catalog")})


def as_json(orders: Mapping[str, Sequence[Node]], logic: str) -> str:
    """Return the text of `generated_order.json`, with one line for each object."""
    parts = [f'  "logic": {json.dumps(logic)}']
    for database, ordered in orders.items():
        lines = []
        for node in ordered:
            entry: dict[str, object] = {"reads": node.reads}
            if node.columns:
                entry |= {"empty_if": node.empty_if, "columns": node.columns}
            lines.append(f"    {json.dumps(node.name)}: {json.dumps(entry)}")
        parts.append(f"  {json.dumps(database)}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(parts) + "\n}\n"

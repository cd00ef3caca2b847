"""The query for the rows of the index. It inlines the views, because creating them takes longer."""

import re
from collections.abc import Callable, Sequence
from functools import cache

from ingest.sql.literals import literal
from ingest.sql.loader import Macro, SqlFile, files, indexed
from ingest.sql.order import nodes
from ingest.sql.versions import table_columns

NAMES = re.compile(r"'(\w+)'")


@cache
def read_by_index() -> tuple[SqlFile, ...]:
    """Return the indexed relations and everything that they read, in order, with macros."""
    reads = {node.name: node.reads for node in nodes("catalog")}
    needed: set[str] = set()
    waiting = [file.name for file in indexed()]
    while waiting:
        if (name := waiting.pop()) not in needed:
            needed.add(name)
            waiting += reads[name]
    return tuple(files()[name] for name in reads if name in needed)


def indexed_rows(run_ids: Sequence[str], rows: Callable[[str], str]) -> str:
    """Return the query for the rows of the index, one row per run.

    A row has `run_id` and, for each indexed relation, a list of structs, NULL if the relation has
    no rows. `rows` returns the query for a table's rows. The query's connection must have the
    scalar macros.
    """
    defined = "".join(
        f",\n{file.name} AS (\n{rows(file.name) if file.kind == 'tables' else _body(file)}\n)"
        for file in read_by_index()
        if file.kind != "macros" and not file.macro
    )
    requested = f"requested AS (SELECT unnest({literal(run_ids)}::VARCHAR[]) AS run_id)"
    lists = "".join(
        f"\nLEFT JOIN ({_list(file)}) AS {file.name} ON requested.run_id = {file.name}.run_id"
        for file in indexed()
    )
    columns = ", ".join(f"{file.name}.rows AS {file.name}" for file in indexed())
    return f"WITH\n{requested}{defined}\nSELECT requested.run_id, {columns}\nFROM requested{lists}"


def no_rows(table: str) -> str:
    """Return a query without rows that has a table's columns and types, including `run_id`."""
    columns = table_columns()[table].items()
    nulls = ", ".join(f"NULL::{kind} AS {name}" for name, kind in columns)
    return f"SELECT NULL::VARCHAR AS run_id, {nulls} WHERE false"


def _body(file: SqlFile) -> str:
    """Return a view's query with the table macros that it calls inlined.

    Those macros take names of relations. They must be inlined because DuckDB does not create a
    macro whose tables do not exist.
    """
    body = file.body.rstrip().removesuffix(";")
    for node in nodes("catalog"):
        if node.name == file.name:
            for called in map(files().__getitem__, node.reads):
                if called.macro and called.macro.is_table:
                    body = _inlined(called.name, called.macro, body)
    return body


def _inlined(name: str, macro: Macro, body: str) -> str:
    def query(call: re.Match[str]) -> str:
        text = macro.body
        for parameter, relation in zip(macro.parameters, NAMES.findall(call[1]), strict=True):
            text = text.replace(f"query_table({parameter})", relation)
        return f"(\n{text}\n)"

    return re.sub(rf"\b{name}\(([^()]*)\)", query, body)


def _list(file: SqlFile) -> str:
    columns = [column for column in file.documentation.columns if column != "run_id"]
    fields = ", ".join(f"{column} := {column}" for column in columns)
    return f"SELECT run_id, list(struct_pack({fields})) AS rows FROM {file.name} GROUP BY run_id"

"""The query for the rows of the index. It inlines the views, because creating them takes longer."""

import re
from collections.abc import Callable, Sequence
from functools import cache

from ingest.sql.literals import literal
from ingest.sql.loader import Macro, SqlFile, files, indexed
from ingest.sql.of_run import read_by
from ingest.sql.order import nodes
from ingest.sql.versions import digest, schema_version, table_columns

NAMES = re.compile(r"'(\w+)'")


@cache
def _read_by_index(computed: frozenset[str] = frozenset()) -> tuple[SqlFile, ...]:
    """Return the indexed relations and everything that they read, in order, with macros.

    What a stored view reads is left out, unless the view is one of `computed`.
    """
    reads = {node.name: node.reads for node in nodes("catalog")}
    wanted = [file.name for file in indexed()]
    needed = {*wanted, *read_by(wanted, reads, computed)}
    return tuple(files()[name] for name in reads if name in needed)


def indexed_rows(
    run_ids: Sequence[str],
    rows: Callable[[str], str],
    computed: frozenset[str] = frozenset(),
) -> str:
    """Return the query for the rows of the index, one row per run.

    A row has `run_id` and, for each indexed relation, a list of structs, NULL if the relation has
    no rows. `rows` returns the query for a table's rows. The rows of the stored views `computed`
    are computed. The query's connection must have the macros of `macros/`.
    """

    def query(file: SqlFile) -> str:
        is_read = file.is_table and file.name not in computed
        return rows(file.name) if is_read else _body(file)

    defined = "".join(
        f",\n{file.name} AS (\n{query(file)}\n)"
        for file in _read_by_index(computed)
        if file.kind != "macros" and not file.macro
    )
    requested = f"requested AS (SELECT unnest({literal(run_ids)}::VARCHAR[]) AS run_id)"
    lists = "".join(
        f"\nLEFT JOIN ({_list(file)}) AS {file.name} ON requested.run_id = {file.name}.run_id"
        for file in indexed()
    )
    columns = ", ".join(f"{file.name}.rows AS {file.name}" for file in indexed())
    return f"WITH\n{requested}{defined}\nSELECT requested.run_id, {columns}\nFROM requested{lists}"


@cache
def index_version() -> str:
    """Return the version of the index's content and of the SQL that computes it."""
    return digest([indexed_rows([], lambda table: table), schema_version()])


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
    body = file.query
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

"""Queries over the store's views. They run with bound parameters and print with literals."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import duckdb

from ingest.sql import literal

# A parameter, or a string literal, which may contain the text of a parameter.
PARAMETER = re.compile(r"'(?:[^']|'')*'|\$(\d+)")
CONDITION = re.compile(r"(.+?)(?: ([<>]=?|<>))?", re.DOTALL)

Scalar = str | int | float | None
Value = Scalar | Sequence[str] | Sequence[int]


@dataclass(frozen=True)
class Query:
    """A query with parameters `$1`, `$2`, …"""

    text: str
    parameters: tuple[Scalar, ...] = ()

    def rows(self, connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
        """Return the rows, each a dict by column, from a store's connection."""
        found = connection.execute(self.text, list(self.parameters))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def inlined(self) -> str:
        """Return the query with its parameters as SQL literals, to read or to run elsewhere."""
        literals = [literal(value) for value in self.parameters]
        return PARAMETER.sub(
            lambda found: literals[int(found[1]) - 1] if found[1] else found[0], self.text
        )


def select(
    columns: str,
    source: str,
    where: Mapping[str, Value] | None = None,
    *,
    given: Mapping[str, Query] | None = None,
    arguments: Sequence[Scalar] | None = None,
    containing: tuple[str, str] | None = None,
    group_by: str | None = None,
    order_by: str | None = None,
    limit: int | None = None,
) -> Query:
    """Return a SELECT from a view, or from a table macro if there are `arguments`.

    `where` maps a column, or a column and an operator (`start_ns <`), to a value. A sequence
    matches any of its values, and None matches null. `given` maps names to queries: macros that
    take the name of a relation can read them by that name. `containing` is an expression and a
    text that it must contain, ignoring case.
    """
    parameters: list[Scalar] = []

    def bound(value: Scalar) -> str:
        parameters.append(value)
        return f"${len(parameters)}"

    def within(query: Query) -> str:
        return PARAMETER.sub(
            lambda found: bound(query.parameters[int(found[1]) - 1]) if found[1] else found[0],
            query.text,
        )

    relations = [
        # Materialised, it would hide the run, and DuckDB would read the files of all runs.
        f"{name} AS NOT MATERIALIZED (\n{indent(within(query), '    ')}\n)"
        for name, query in (given or {}).items()
    ]

    if arguments is not None:
        source = f"{source}({', '.join(bound(each) for each in arguments)})"
    conditions = []
    for column, value in (where or {}).items():
        name, operator = _condition(column)
        if value is None:
            conditions.append(f"{name} IS NULL")
        elif isinstance(value, str | int | float):
            conditions.append(f"{name} {operator} {bound(value)}")
        else:
            conditions.append(f"{name} IN ({', '.join(bound(each) for each in value)})")
    if containing and containing[1]:
        conditions.append(f"contains(lower({containing[0]}), lower({bound(containing[1])}))")
    lines = [f"WITH {', '.join(relations)}"] if relations else []
    lines += [f"SELECT {columns}", f"FROM {source}"]
    if conditions:
        lines.append("WHERE " + "\n  AND ".join(conditions))
    if group_by:
        lines.append(f"GROUP BY {group_by}")
    if order_by:
        lines.append(f"ORDER BY {order_by}")
    if limit:
        lines.append(f"LIMIT {limit}")
    return Query("\n".join(lines), tuple(parameters))


def _condition(column: str) -> tuple[str, str]:
    match = CONDITION.fullmatch(column)
    if match is None:
        raise ValueError("a condition needs a column")
    return match[1], match[2] or "="


def call(columns: str, macro: str, arguments: Sequence[Scalar], order_by: str) -> Query:
    """Return a SELECT from a table macro with arguments."""
    return select(columns, macro, arguments=arguments, order_by=order_by)

"""Printing of results to stdout, for people or for programs. Messages go to stderr."""

import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

import duckdb

from ingest.errors import QueryError
from ingest.sandbox import Result, writer
from ingest.store.connection import read_statement
from ingest.units import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Functions import rich, because `ingest add` needs it only in a terminal.

WIDE = 100_000
NARROWEST = 12
GAP = "   "  # between two columns
PROSE = {"comment": 90, "warnings": 90}  # columns that wrap, with their width
MAX_ROWS = 1_000


def results() -> "Console":
    """Return the console of stdout. Its width is unlimited if stdout is not a terminal."""
    from rich.console import Console

    is_terminal = sys.stdout.isatty()
    return Console(width=None if is_terminal else WIDE, highlight=False, soft_wrap=not is_terminal)


def warn(messages: Iterable[str]) -> None:
    """Print warnings to stderr."""
    for message in messages:
        print(f"warning: {printable(message)}", file=sys.stderr)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    title: str | None = None,
    right: Sequence[str] = (),
) -> "Text":
    """Lay out a table for people. The columns named in `right` hold numbers, aligned right.

    If the terminal is too narrow, the widest text columns are cut first. This function does not
    use rich's tables because they take almost a second for a thousand rows.
    """
    from rich.cells import cell_len
    from rich.text import Text

    texts = [["" if value is None else printable(str(value)) for value in row] for row in rows]
    widths = [
        min(max(map(cell_len, (name, *cells))), PROSE.get(name, WIDE))
        for name, *cells in zip(columns, *texts, strict=True)
    ]
    available = results().width - len(GAP) * len(columns)
    texts_at = [index for index, name in enumerate(columns) if name not in right]
    _shrink(widths, texts_at, NARROWEST, available)
    _shrink(widths, range(len(widths)), 2, available)
    layout = [
        (width, name in right, name in PROSE) for name, width in zip(columns, widths, strict=True)
    ]
    made = Text(f"{title}\n" if title else "", "italic")
    made = Text.assemble(made, "\n", (_lines(columns, layout), "bold"), "\n")
    made.append(f" {'─' * (sum(widths) + len(GAP) * (len(widths) - 1))}\n")
    made.append("".join(f"{_lines(cells, layout)}\n" for cells in texts))
    return made


def _shrink(widths: list[int], indices: Sequence[int], narrowest: int, available: int) -> None:
    """Shrink the widest of the columns at `indices` until all columns fit in the available width.

    No column gets narrower than `narrowest`.
    """
    while indices and sum(widths) > available:
        widest = max(indices, key=lambda index: widths[index])
        if widths[widest] <= narrowest:
            break
        widths[widest] -= 1


def _lines(cells: Sequence[str], layout: Sequence[tuple[int, bool, bool]]) -> str:
    """Lay out a row, with as many lines as its tallest cell.

    `layout` has for each column its width, whether it holds numbers, and whether it holds prose.
    """
    columns = [
        textwrap.wrap(cell, width) if is_prose else cell.splitlines()
        for cell, (width, _, is_prose) in zip(cells, layout, strict=True)
    ]
    lines = [
        GAP.join(
            _padded(text, width, is_number)
            for text, (width, is_number, _) in zip(texts, layout, strict=True)
        )
        for texts in zip_longest(*columns, fillvalue="")
    ]
    return "\n".join(f" {line}".rstrip() for line in lines)


def _padded(text: str, width: int, is_number: bool) -> str:
    from rich.cells import cell_len, set_cell_size

    spare = width - cell_len(text)
    if spare < 0:
        return set_cell_size(text, width - 1) + "…"
    return " " * spare + text if is_number else text + " " * spare


def write_query(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    params: Sequence[object] = (),
    output_format: str = "table",
) -> None:
    """Write a query's rows to stdout as `table`, `csv`, `json` (an array) or `parquet`.

    Raise QueryError if the query fails or its result cannot be written in that format.
    """
    if output_format == "parquet" and sys.stdout.isatty():
        raise QueryError("Parquet is binary; write it to a file: `ingest sql … > file`")
    try:
        formed = read_statement(
            connection, lambda: _formed(connection.sql(query, params=list(params)), output_format)
        )
    except duckdb.Error as error:
        raise QueryError(str(error).strip()) from error
    if isinstance(formed, bytes):
        sys.stdout.buffer.write(formed)
    elif output_format == "table":
        results().print(formed)
    else:
        sys.stdout.writelines(cast("Iterable[str]", formed))


def _formed(
    relation: duckdb.DuckDBPyRelation | None, output_format: str
) -> "bytes | Text | Iterable[str]":
    """Return the rows of a query in the output format."""
    if relation is None:
        raise QueryError("the query is empty")
    if output_format == "parquet":
        return Result(writer.for_arrow(relation).to_arrow_table()).parquet()
    if output_format == "csv":
        lines = writer.csv_lines(relation, relation.columns)
        return map(_on_terminal, lines) if sys.stdout.isatty() else lines
    if output_format == "json":
        if len(set(relation.columns)) < len(relation.columns):
            raise QueryError(
                "two columns have the same name, which JSON cannot represent; rename one with AS"
            )
        return _json_array(writer.json_objects(relation))
    return _shown(relation)


def _on_terminal(line: str) -> str:
    return printable(line.removesuffix("\n"), len(line)) + "\n"


def _json_array(objects: Iterable[str]) -> Iterator[str]:
    separator = "["
    for each in objects:
        yield separator + each
        separator = ",\n"
    yield "[]\n" if separator == "[" else "]\n"


def _shown(relation: duckdb.DuckDBPyRelation) -> "Text":
    """Lay out the first rows as a table for people."""
    texts = writer.texts(relation)
    kinds = zip(relation.columns, relation.types, strict=True)
    numbers = [name for name, kind in kinds if kind.id in writer.NUMBERS]
    columns = [column.to_pylist() for column in texts.slice(0, MAX_ROWS).columns]
    made = table(relation.columns, zip(*columns, strict=True), right=numbers)
    if texts.num_rows > MAX_ROWS:
        print(f"showing the first {MAX_ROWS:,} of {texts.num_rows:,} rows", file=sys.stderr)
    if not texts.num_rows:
        made.append(" (no rows)\n")
    return made

"""Printing: results on stdout, for people or for programs; everything else on stderr."""

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import pyarrow.parquet as pq
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

FETCH_ROWS = 10_000
NUMBERS = {"TINYINT", "INTEGER", "BIGINT", "UBIGINT", "HUGEINT", "FLOAT", "DOUBLE"}
WIDE = 100_000
PROSE = {"comment": 90, "warnings": 90}  # columns that wrap, with their width

diagnostics = Console(stderr=True)


def results() -> Console:
    """The console of stdout; not limited in width where stdout is no terminal."""
    is_terminal = sys.stdout.isatty()
    return Console(width=None if is_terminal else WIDE, highlight=False, soft_wrap=not is_terminal)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    title: str | None = None,
    right: Sequence[str] = (),
) -> Table:
    """A table for people; the columns named in `right` are aligned right and never cut."""
    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        number = column in right
        made.add_column(
            column,
            justify="right" if number else "left",
            no_wrap=column not in PROSE,
            overflow="ellipsis",
            min_width=len(column) if number else None,
            max_width=PROSE.get(column),
        )
    for row in rows:
        made.add_row(*(Text("" if value is None else str(value)) for value in row))
    return made


def write_query(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    params: Sequence[object] = (),
    output_format: str = "table",
) -> None:
    """Writes a query's rows to stdout: as `table`, `csv`, `json` (an array) or `parquet`.

    Raises duckdb.Error where the query fails.
    """
    if output_format == "parquet":
        relation = connection.sql(query, params=list(params))
        pq.write_table(relation.to_arrow_table(), sys.stdout.buffer)
        return
    cursor = connection.execute(query, list(params))
    columns = [column[0] for column in cursor.description]
    if output_format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        for rows in _batches(cursor):
            writer.writerows(rows)
    elif output_format == "json":
        separator = "["
        for rows in _batches(cursor):
            for row in rows:
                record = dict(zip(columns, row, strict=True))
                sys.stdout.write(f"{separator}{json.dumps(record, default=str)}")
                separator = ",\n"
        sys.stdout.write("[]\n" if separator == "[" else "]\n")
    else:
        numbers = [column[0] for column in cursor.description if str(column[1]) in NUMBERS]
        rows = [row for batch in _batches(cursor) for row in batch]
        results().print(table(columns, rows, right=numbers))


def _batches(cursor: duckdb.DuckDBPyConnection) -> Iterable[list[tuple[Any, ...]]]:
    while rows := cursor.fetchmany(FETCH_ROWS):
        yield rows

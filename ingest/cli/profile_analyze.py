"""`ingest profile-analyze`: the output of MegEngine's profile_analyze, for a run or a file."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import duckdb
import typer

from ingest.cli import analyzed
from ingest.cli.analyzed import Analysis, Choice
from ingest.cli.terminal import StoreOption, open_store
from ingest.errors import QueryError
from ingest.store.connection import connect, read
from ingest.store.directory.store import Store
from ingest.temporary import temporary_directory
from ingest.units import printable


class Part(StrEnum):
    """A part of the printout."""

    summary = "summary"
    device = "device"
    host = "host"


class Aggregate(StrEnum):
    """An aggregate function over a group of operators."""

    max = "max"
    min = "min"
    sum = "sum"
    mean = "mean"


class Group(StrEnum):
    """The key that operators are grouped by."""

    type = "type"


class Key(StrEnum):
    """The event that ends an operator's time: its end, or the start of its first kernel."""

    end = "end"
    kern = "kern"


def profile_analyze(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN|FILE", help="A run, or a file that need not be in the store."),
    ],
    top: Annotated[int, typer.Option("--top", "-t", min=0, help="Rows. 0 shows all.")] = 3,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="Only operators of this type. Repeatable.")
    ] = None,
    opr_name: Annotated[
        str | None, typer.Option(help="Only operators whose name begins with this regex.")
    ] = None,
    input_dtype: Annotated[
        str | None, typer.Option(help="Only operators with an input of this type, like Float32.")
    ] = None,
    top_end_key: Annotated[
        Key, typer.Option(help="Measure times to the end, or to the first kernel.")
    ] = Key.end,
    aggregate: Annotated[
        Aggregate | None, typer.Option(help="Aggregate each group, or all operators.")
    ] = None,
    aggregate_by: Annotated[
        Group | None, typer.Option(help="One row per type: the sum, or --aggregate.")
    ] = None,
    order_by: Annotated[
        str,
        typer.Option(
            metavar="[+]COLUMN",
            help=f"Sort by {', '.join(analyzed.ORDERS)}. + sorts in ascending order.",
        ),
    ] = "time",
    min_time: Annotated[
        float | None, typer.Option(help="Only operators that take at least this time, s.")
    ] = None,
    max_time: Annotated[
        float | None, typer.Option(help="Only operators that take at most this time, s.")
    ] = None,
    copy_time: Annotated[
        bool, typer.Option("--copy-time", help="Also print the sum of copy times.")
    ] = False,
    show_host: Annotated[
        bool, typer.Option("--show-host", help="Also print the host's times.")
    ] = False,
    print_only: Annotated[Part | None, typer.Option(help="Print only this part.")] = None,
    dump_only_opr: Annotated[
        bool, typer.Option("--dump-only-opr", help="Print only names, types and ids of operators.")
    ] = False,
    wiki: Annotated[
        bool, typer.Option("--wiki", "--confluence", help="Print tables for a wiki.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with exact numbers and times in s.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV, with exact numbers and times in s.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Analyse a MegEngine profile like MegEngine's profile_analyze: times, FLOPS, bandwidth."""
    if (order := analyzed.order_of(order_by)) is None:
        known = ", ".join(analyzed.ORDERS)
        raise typer.BadParameter(f"{order_by!r} is not one of {known}", param_hint="--order-by")
    if opr_name and (fault := _fault_of(opr_name)):
        raise typer.BadParameter(f"invalid regular expression: {fault}", param_hint="--opr-name")
    if aggregate_by and not aggregate:
        aggregate = Aggregate.sum
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv cannot be used together")
    choice = Choice(
        top=top,
        types=types or None,
        opr_name=opr_name,
        input_dtype=input_dtype,
        time_key=top_end_key.value,
        aggregate=aggregate and aggregate.value,
        by_type=aggregate_by is not None,
        order=order,
        min_time=min_time,
        max_time=max_time,
    )
    only = print_only and print_only.value
    sides = [only] if only in ("device", "host") else ["device", "host"][: 1 + show_host]
    if only == "summary":
        sides = []
    with _opened(run, store) as (connection, run_id):
        for warning in read(connection, lambda: analyzed.warnings(connection, run_id)):
            print(printable(f"warning: {warning}"), file=sys.stderr)
        analyses = read(
            connection,
            lambda: [
                analyzed.analysis(connection, run_id, source_id, choice, sides)
                for source_id in analyzed.sources(connection, run_id)
            ],
        )
    if not analyses:
        raise QueryError(f"{run_id} has no MegEngine profile")
    if as_json:
        print(json.dumps([analyzed.as_dict(analysis) for analysis in analyses], indent=1))
        return
    if as_csv:
        sys.stdout.writelines(analyzed.csv_lines(analyses))
        return
    for analysis in analyses:
        if len(analyses) > 1:
            print(printable(analysis.path))
        for text in _texts(analysis, only, sides, copy_time, dump_only_opr, wiki):
            print(text)


def _fault_of(pattern: str) -> str | None:
    """Return DuckDB's reason to reject a regular expression, or None if it is valid."""
    with duckdb.connect() as connection:
        try:
            connection.execute("SELECT regexp_matches('', $1)", [pattern])
        except duckdb.InvalidInputException as error:
            return str(error).partition(": ")[2].partition("\n")[0]
    return None


def _texts(
    analysis: Analysis,
    only: str | None,
    sides: list[str],
    copy_time: bool,
    dump_only_opr: bool,
    wiki: bool,
) -> Iterator[str]:
    """Yield the parts of the printout, with empty lines between them."""
    from ingest.cli import analyzed_tables as tables  # imports tabulate

    if only in (None, "summary"):
        yield tables.summary(analysis, copy_time, wiki)
    for side in sides:
        if only is None:
            yield ""
        rows = analysis.records[side]
        if dump_only_opr:
            yield "\n".join(tables.names(row) for row in rows)
        elif wiki:
            yield tables.wiki(rows)
        else:
            yield tables.details(rows, side)


@contextmanager
def _opened(run: str, store: str | None) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """Yield a connection and the run's id. A file is added to a temporary store first."""
    if not os.path.exists(run):  # unlike Path.exists, never raises, even for an invalid path
        opened = open_store(store)
        run_id = opened.find(run)
        yield connect(opened, [run_id]), run_id
        return
    with temporary_directory() as directory:
        temporary = Store(directory)
        added = temporary.add(Path(run))
        yield connect(temporary), added.run_id

"""`ingest profile-analyze`: what MegEngine's profile_analyze prints, of a run or a file."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import duckdb
import typer

from ingest.cli import analyzed
from ingest.cli.analyzed import Analysis, Choice
from ingest.errors import QueryError
from ingest.store.connection import connect, read
from ingest.store.store import Store
from ingest.terminal import StoreOption, open_store
from ingest.units import printable


class Part(StrEnum):
    """What is printed."""

    summary = "summary"
    device = "device"
    host = "host"


class Aggregate(StrEnum):
    """What becomes of a group of operators."""

    max = "max"
    min = "min"
    sum = "sum"
    mean = "mean"


class Group(StrEnum):
    """What operators are grouped by."""

    type = "type"


class Key(StrEnum):
    """Until when the time of an operator counts."""

    end = "end"
    kern = "kern"


def profile_analyze(
    run: Annotated[
        str, typer.Argument(metavar="RUN|FILE", help="A run, or a file without a store.")
    ],
    top: Annotated[int, typer.Option("--top", "-t", min=0, help="Rows; 0 is all.")] = 3,
    types: Annotated[
        list[str] | None, typer.Option("--type", help="Only operators of this type; repeatable.")
    ] = None,
    opr_name: Annotated[
        str | None, typer.Option(help="Regular expression for the beginning of the name.")
    ] = None,
    input_dtype: Annotated[
        str | None, typer.Option(help="Only operators with an input of this type: Float32.")
    ] = None,
    top_end_key: Annotated[
        Key, typer.Option(help="Time until the end, or until the first kernel.")
    ] = Key.end,
    aggregate: Annotated[
        Aggregate | None, typer.Option(help="Of each group, or of all operators.")
    ] = None,
    aggregate_by: Annotated[
        Group | None, typer.Option(help="A row for each type: the sum, or --aggregate.")
    ] = None,
    order_by: Annotated[
        str, typer.Option(metavar="[+]COLUMN", help=f"{', '.join(analyzed.ORDERS)}; + ascending.")
    ] = "time",
    min_time: Annotated[float | None, typer.Option(help="Shortest time, seconds.")] = None,
    max_time: Annotated[float | None, typer.Option(help="Longest time, seconds.")] = None,
    copy_time: Annotated[
        bool, typer.Option("--copy-time", help="Sum the times of the copies, too.")
    ] = False,
    show_host: Annotated[bool, typer.Option("--show-host", help="The host's times, too.")] = False,
    print_only: Annotated[Part | None, typer.Option(help="Print this part alone.")] = None,
    dump_only_opr: Annotated[
        bool, typer.Option("--dump-only-opr", help="Name, type and id of each operator alone.")
    ] = False,
    wiki: Annotated[
        bool, typer.Option("--wiki", "--confluence", help="Tables for a wiki.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Exact numbers; times in s.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Exact numbers; times in s.")] = False,
    store: StoreOption = None,
) -> None:
    """Analyse a MegEngine profile as its profile_analyze does: times, FLOPS and bandwidth."""
    if (order := analyzed.order_of(order_by)) is None:
        known = ", ".join(analyzed.ORDERS)
        raise typer.BadParameter(f"{order_by!r} is not one of {known}", param_hint="--order-by")
    if opr_name and (fault := _fault_of(opr_name)):
        raise typer.BadParameter(f"no regular expression: {fault}", param_hint="--opr-name")
    if aggregate_by and not aggregate:
        aggregate = Aggregate.sum
    if as_json and as_csv:
        raise typer.BadParameter("--json or --csv, not both")
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
        raise QueryError(f"{run_id} has no profile of MegEngine")
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
    """Why a text is no regular expression, by those who will use it; None where it is one."""
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
    """The parts of the printout, with empty lines between them."""
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
def _opened(run: str, store: Path | None) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """The run of a store; of a file, a run in a store that lasts as long as the command."""
    if not os.path.exists(run):  # unlike Path.exists, also for what can be no path
        opened = open_store(store)
        run_id = opened.find(run)
        yield connect(opened), run_id
        return
    with TemporaryDirectory(prefix="tracehouse-") as directory:
        temporary = Store(Path(directory))
        added = temporary.add(Path(run))
        yield connect(temporary), added.run_id

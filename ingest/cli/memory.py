"""The command `ingest memory`: a thin wrapper around `memory_report`."""

from enum import StrEnum
from typing import Annotated

import typer

from ingest.cli.terminal import RunArgument, StoreOption, open_store, results, warn
from ingest.reports.memory import warnings
from ingest.reports.moments import moment
from ingest.store.connection import connect, read


class Level(StrEnum):
    """The level of a ranking of memory."""

    frame = "frame"
    stack = "stack"
    module = "module"
    op = "op"
    category = "category"


def _checked(at: str) -> str:
    try:
        moment(at)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return at


def memory(
    run: RunArgument,
    at: Annotated[
        str,
        typer.Option(
            callback=_checked,
            metavar="peak|end|oom|TIME",
            help="Moment. TIME is in seconds after a device's first action, or in Unix ns.",
        ),
    ] = "peak",
    by: Annotated[
        Level | None,
        typer.Option(help="Group memory by this. Default: frame, op or category, if recorded."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Rows of each table.")] = 20,
    store: StoreOption = None,
) -> None:
    """Show what held each device's memory at its peak, or at another moment."""
    from ingest.cli.memory_report import memory_report

    opened = open_store(store)
    console = results()
    run_id = opened.find(run)
    connection = connect(opened, [run_id])
    warn(read(connection, lambda: warnings(connection, run_id)))
    for part in read(connection, lambda: list(memory_report(connection, run_id, at, by, limit))):
        console.print(part)

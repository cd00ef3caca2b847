"""The command `ingest top`."""

from enum import StrEnum
from typing import Annotated

import typer

from ingest.cli.efficiency import efficiency_tables
from ingest.cli.ranking_tables import ranking_tables
from ingest.cli.terminal import RunArgument, StoreOption, open_store, results, warn
from ingest.reports.runs import warnings
from ingest.store.connection import connect, read


class Level(StrEnum):
    """The level of a ranking: outermost operators, innermost operators or kernels."""

    op = "op"
    leaf = "leaf"
    kernel = "kernel"


def top(
    run: RunArgument,
    by: Annotated[
        Level, typer.Option(help="Rank outermost operators, innermost operators or kernels.")
    ] = Level.op,
    limit: Annotated[int, typer.Option(min=0, help="Rows of each table. 0 shows all.")] = 20,
    efficiency: Annotated[
        bool,
        typer.Option(
            "--efficiency",
            help="Show how close operators come to the peaks of the device, and rank by the time "
            "that reaching them would save. With --by kernel, by their longest kernel.",
        ),
    ] = False,
    wide: Annotated[bool, typer.Option("--wide", help="Do not shorten long names.")] = False,
    store: StoreOption = None,
) -> None:
    """Rank a run's operators or kernels by device time. Idle time is a row of the table."""
    if efficiency and by is Level.leaf:
        raise typer.BadParameter("--efficiency ranks by op or kernel")
    opened = open_store(store)
    console = results()
    run_id = opened.find(run)
    connection = connect(opened, [run_id])
    warn(read(connection, lambda: warnings(connection, run_id)))
    tables = efficiency_tables if efficiency else ranking_tables
    for part in read(connection, lambda: list(tables(connection, run_id, by.value, limit, wide))):
        console.print(part)

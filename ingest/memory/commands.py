"""The commands about memory: thin, over `memory_report` and `export`."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ingest.store.connection import connect, read
from ingest.terminal import RunArgument, StoreOption, open_store, results
from ingest.units import printable


class Level(StrEnum):
    """What a ranking of memory counts by."""

    frame = "frame"
    stack = "stack"
    module = "module"
    op = "op"
    category = "category"


def _checked(at: str) -> str:
    from ingest.memory.moments import moment  # imported here, as no other command needs it

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
            help="TIME: seconds after a device's first action, or Unix ns.",
        ),
    ] = "peak",
    by: Annotated[
        Level | None, typer.Option(help="Without it: the first of frame, op, category known.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Rows of each table.")] = 20,
    store: StoreOption = None,
) -> None:
    """Show what held each device's memory, at its peak or at any other moment."""
    from ingest.memory.report import memory_report, memory_warnings

    opened = open_store(store)
    console = results()
    run_id, connection = opened.find(run), connect(opened)
    for said in read(connection, lambda: list(memory_warnings(connection, run_id))):
        print(f"warning: {printable(said)}", file=sys.stderr)
    for part in read(connection, lambda: list(memory_report(connection, run_id, at, by, limit))):
        console.print(part)


def export(
    run: RunArgument,
    memory_svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Flame graph of a snapshot: memory by stack (SVG)."),
    ] = None,
    segments_svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Flame graph of a snapshot: the same by segment (SVG)."),
    ] = None,
    memory_html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The memory over time, what held it and when (HTML)."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write a run's memory as one file that a browser shows by itself."""
    from ingest.memory.html.export import GRAPHS, flame_graph, write_whole
    from ingest.memory.html.page import memory_page

    files = {"memory": memory_svg, "segments": segments_svg, "html": memory_html}
    wanted = [(kind, file) for kind, file in files.items() if file is not None]
    if len(wanted) != 1:
        raise typer.BadParameter("give one of --memory-svg, --segments-svg and --memory-html")
    [(kind, file)] = wanted
    opened = open_store(store)
    run_id, connection = opened.find(run), connect(opened)
    if kind in GRAPHS:
        text = read(connection, lambda: flame_graph(connection, run_id, kind))
    else:
        text = read(connection, lambda: memory_page(connection, run_id))
    write_whole(file, text)
    results().print(f"wrote {printable(str(file))}", markup=False)

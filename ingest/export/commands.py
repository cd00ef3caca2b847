"""The command `export`."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ingest.export.call_stacks import METRICS, Metric, collapsed, speedscope
from ingest.export.files import write_whole
from ingest.store.connection import connect, read
from ingest.terminal import RunArgument, StoreOption, open_store, results
from ingest.units import printable

STANDARD_OUTPUT = Path("-")


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
    stacks: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What called what, as lines `frame;frame value`."),
    ] = None,
    speedscope_file: Annotated[
        Path | None,
        typer.Option(
            "--speedscope", metavar="FILE", help="What called what, as speedscope's own file."
        ),
    ] = None,
    metric: Annotated[
        Metric | None,
        typer.Option(
            help="What --stacks and --speedscope count, in ns or bytes; without it, host."
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option(help="Only this step, of --stacks and --speedscope.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write a run as one file, for a browser or another tool; `-` is the standard output."""
    from ingest.memory.html.export import GRAPHS, flame_graph
    from ingest.memory.html.page import memory_page

    files = {
        "memory": memory_svg,
        "segments": segments_svg,
        "html": memory_html,
        "stacks": stacks,
        "speedscope": speedscope_file,
    }
    wanted = [(kind, file) for kind, file in files.items() if file is not None]
    if len(wanted) != 1:
        raise typer.BadParameter(
            "give exactly one of --memory-svg, --segments-svg, --memory-html, --stacks and "
            "--speedscope"
        )
    [(kind, file)] = wanted
    of_calls = {"stacks": collapsed, "speedscope": speedscope}
    if kind not in of_calls and (metric is not None or step is not None):
        raise typer.BadParameter("--metric and --step are for --stacks and --speedscope")
    opened = open_store(store)
    run_id, connection = opened.find(run), connect(opened)
    parts: Iterable[str]
    if kind in GRAPHS:
        parts = [read(connection, lambda: flame_graph(connection, run_id, kind))]
    elif kind == "html":
        parts = [read(connection, lambda: memory_page(connection, run_id))]
    else:
        counted = METRICS[metric or Metric.host]
        parts = read(connection, lambda: of_calls[kind](connection, run_id, counted, step))
    if file == STANDARD_OUTPUT:
        sys.stdout.writelines(parts)
        return
    write_whole(file, parts)
    results().print(f"wrote {printable(str(file))}", markup=False)

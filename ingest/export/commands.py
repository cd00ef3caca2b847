"""The command `export`."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import duckdb
import typer

from ingest.errors import MissingError
from ingest.export.call_stacks import METRICS, Counted, Metric, collapsed, speedscope
from ingest.export.chrome import chrome_trace
from ingest.export.files import write_whole
from ingest.export.stretches import first_event, steps_of_two, stretches
from ingest.store.connection import connect, read
from ingest.terminal import RunArgument, StoreOption, open_store, results
from ingest.units import parse_duration, printable

STANDARD_OUTPUT = Path("-")
GRAPHS = {"--memory-svg": "memory", "--segments-svg": "segments"}
# The options for each kind of file, beside --store.
OPTIONS: dict[str, set[str]] = {
    "--memory-svg": set(),
    "--segments-svg": set(),
    "--memory-html": set(),
    "--stacks": {"--metric", "--step"},
    "--speedscope": {"--metric", "--step"},
    "--chrome": {"--step", "--from", "--to", "--rank", "--min-dur", "--beside", "--beside-step"},
}


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
    chrome: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The events, or a part of them, as a chrome trace for Perfetto, with tracks of "
            "idle time and memory. It is compressed if FILE ends in `.gz`.",
        ),
    ] = None,
    metric: Annotated[
        Metric | None,
        typer.Option(
            help="What --stacks and --speedscope count, in ns or bytes; without it, host."
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option(help="Only this step, of --stacks, --speedscope and --chrome.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="With --chrome: start here. 1.5s and 20ms count from the first event; a bare "
            "number is Unix time in ns.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--to", metavar="TIME", help="With --chrome: end here, a time as of --from."),
    ] = None,
    rank: Annotated[
        list[int] | None,
        typer.Option(help="With --chrome: only this rank; repeatable. Without it, all."),
    ] = None,
    min_dur: Annotated[
        str | None,
        typer.Option(
            "--min-dur",
            metavar="DURATION",
            help="With --chrome: leave out shorter events; such as 10us.",
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="With --chrome and --step: a second run, whose step starts with it."
        ),
    ] = None,
    beside_step: Annotated[
        int | None,
        typer.Option("--beside-step", help="The step of --beside; without it, that of --step."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write a run as one file, for a browser or another tool; `-` is the standard output."""
    files = {
        "--memory-svg": memory_svg,
        "--segments-svg": segments_svg,
        "--memory-html": memory_html,
        "--stacks": stacks,
        "--speedscope": speedscope_file,
        "--chrome": chrome,
    }
    given = {
        "--metric": metric,
        "--step": step,
        "--from": since,
        "--to": until,
        "--rank": rank,
        "--min-dur": min_dur,
        "--beside": beside,
        "--beside-step": beside_step,
    }
    kind, file = _chosen(files, [option for option, value in given.items() if value is not None])
    if beside_step is not None and beside is None:
        raise typer.BadParameter("--beside-step is for --beside")
    if beside is not None and step is None:
        raise typer.BadParameter("--beside needs --step: the steps of both runs start together")
    if step is not None and (since is not None or until is not None):
        raise typer.BadParameter("give --step, or --from and --to")
    opened = open_store(store)
    run_id, connection = opened.find(run), connect(opened)
    if kind == "--chrome":
        shortest_ns = _duration("--min-dur", min_dur) if min_dur else 0
        other = opened.find(beside) if beside else None

        def trace() -> Iterator[bytes]:
            if other and step is not None:
                both = (run_id, other)
                asked = steps_of_two(connection, both, rank or [], step, beside_step)
            else:
                edges = _edges(connection, run_id, since, until)
                asked = stretches(connection, run_id, rank or [], step, *edges)
            return chrome_trace(connection, asked, shortest_ns).text

        parts: Iterable[bytes] = read(connection, trace)
    else:
        texts = _texts(connection, run_id, kind, METRICS[metric or Metric.host], step)
        parts = (text.encode("utf-8", "replace") for text in texts)
    if file == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(parts)
        sys.stdout.buffer.flush()
        return
    write_whole(file, parts)
    results().print(f"wrote {printable(str(file))}", markup=False)


def _chosen(files: dict[str, Path | None], given: list[str]) -> tuple[str, Path]:
    """The one file that is asked for, after a check that the options are for it."""
    wanted = [(kind, file) for kind, file in files.items() if file is not None]
    if len(wanted) != 1:
        *most, last = files
        raise typer.BadParameter(f"give exactly one of {', '.join(most)} and {last}")
    [(kind, file)] = wanted
    for option in given:
        if option not in OPTIONS[kind]:
            kinds = [each for each, options in OPTIONS.items() if option in options]
            raise typer.BadParameter(f"{option} is for {' and '.join(kinds)}")
    return kind, file


def _texts(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    kind: str,
    counted: Counted,
    step: int | None,
) -> Iterable[str]:
    """The text of a file of any kind but --chrome."""
    from ingest.memory.html.export import flame_graph
    from ingest.memory.html.page import memory_page

    def ask() -> Iterable[str]:
        match kind:
            case "--stacks":
                return collapsed(connection, run_id, counted, step)
            case "--speedscope":
                return speedscope(connection, run_id, counted, step)
            case "--memory-html":
                return [memory_page(connection, run_id)]
            case _:
                return [flame_graph(connection, run_id, GRAPHS[kind])]

    return read(connection, ask)


def _edges(
    connection: duckdb.DuckDBPyConnection, run_id: str, since: str | None, until: str | None
) -> tuple[int | None, int | None]:
    """The times of --from and --to, Unix ns."""
    if since is None and until is None:
        return None, None
    first = first_event(connection, run_id)
    if first is None:
        raise MissingError(f"{run_id}: no trace was recorded")
    since_ns = None if since is None else _moment("--from", since, first)
    until_ns = None if until is None else _moment("--to", until, first)
    if since_ns is not None and until_ns is not None and since_ns >= until_ns:
        raise typer.BadParameter("--from must be before --to")
    return since_ns, until_ns


def _moment(option: str, text: str, first_ns: int) -> int:
    """A time in Unix ns. A time with a unit counts from the first event."""
    if text.isdecimal() and int(text) >= first_ns:
        return int(text)
    try:
        return first_ns + parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}; nor Unix time in ns, of the run") from error


def _duration(option: str, text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}") from error

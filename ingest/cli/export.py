"""The command `ingest export`."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import duckdb
import typer

from ingest.cli.terminal import RunArgument, StoreOption, open_store, results
from ingest.errors import MissingError
from ingest.export.call_stacks import METRICS, Counted, Metric, collapsed, speedscope
from ingest.export.chrome import chrome_trace
from ingest.export.files import write_atomically
from ingest.export.stretches import first_event, intervals_of, steps_of_two
from ingest.store.connection import connect, read
from ingest.units import parse_duration, printable

STANDARD_OUTPUT = Path("-")
GRAPHS = {"--memory-svg": "memory", "--segments-svg": "segments"}
# The options that apply to each kind of file, besides --store.
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
        typer.Option(metavar="FILE", help="Write a flame graph of memory by stack (SVG)."),
    ] = None,
    segments_svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a flame graph of memory by segment (SVG)."),
    ] = None,
    memory_html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page of memory over time, by owner (HTML)."),
    ] = None,
    stacks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write call stacks for flamegraph.pl: lines `frame;frame value`."
        ),
    ] = None,
    speedscope_file: Annotated[
        Path | None,
        typer.Option("--speedscope", metavar="FILE", help="Write call stacks for speedscope."),
    ] = None,
    chrome: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write events as a chrome trace for Perfetto, with tracks of idle time and "
            "memory. The file is compressed if its name ends in `.gz`.",
        ),
    ] = None,
    metric: Annotated[
        Metric | None,
        typer.Option(
            help="With --stacks or --speedscope: the weight of calls, in ns or bytes. "
            "Default: host."
        ),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(help="With --stacks, --speedscope or --chrome: only this step."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="With --chrome: start of the time interval. 1.5s and 20ms count from the first "
            "event; a number without a unit is Unix time in ns.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--to", metavar="TIME", help="With --chrome: end of the time interval."),
    ] = None,
    rank: Annotated[
        list[int] | None,
        typer.Option(help="With --chrome: only this rank. Repeatable. Default: all ranks."),
    ] = None,
    min_dur: Annotated[
        str | None,
        typer.Option(
            "--min-dur",
            metavar="DURATION",
            help="With --chrome: leave out events shorter than this, such as 10us.",
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="With --chrome and --step: add a second run. Both steps start together.",
        ),
    ] = None,
    beside_step: Annotated[
        int | None,
        typer.Option("--beside-step", help="The second run's step. Default: that of --step."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Export a run to a file for a browser or another tool. `-` means standard output."""
    files = {
        "--memory-svg": memory_svg,
        "--segments-svg": segments_svg,
        "--memory-html": memory_html,
        "--stacks": stacks,
        "--speedscope": speedscope_file,
        "--chrome": chrome,
    }
    options = {
        "--metric": metric,
        "--step": step,
        "--from": since,
        "--to": until,
        "--rank": rank,
        "--min-dur": min_dur,
        "--beside": beside,
        "--beside-step": beside_step,
    }
    kind, file = _chosen(files, [option for option, value in options.items() if value is not None])
    if beside_step is not None and beside is None:
        raise typer.BadParameter("--beside-step requires --beside")
    if beside is not None and step is None:
        raise typer.BadParameter("--beside requires --step")
    if step is not None and (since is not None or until is not None):
        raise typer.BadParameter("--step cannot be used with --from or --to")
    opened = open_store(store)
    run_id = opened.find(run)
    connection = connect(opened, [run_id])
    if kind == "--chrome":
        shortest_ns = _duration("--min-dur", min_dur) if min_dur else 0
        other = opened.find(beside) if beside else None

        def trace() -> Iterator[bytes]:
            if other and step is not None:
                both = (run_id, other)
                intervals = steps_of_two(connection, both, rank or [], step, beside_step)
            else:
                bounds = _bounds(connection, run_id, since, until)
                intervals = intervals_of(connection, run_id, rank or [], step, *bounds)
            return chrome_trace(connection, intervals, shortest_ns).text

        parts: Iterable[bytes] = read(connection, trace)
    else:
        texts = _texts(connection, run_id, kind, METRICS[metric or Metric.host], step)
        parts = (text.encode("utf-8", "replace") for text in texts)
    if file == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(parts)
        sys.stdout.buffer.flush()
        return
    write_atomically(file, parts)
    results().print(f"wrote {printable(str(file))}", markup=False)


def _chosen(files: dict[str, Path | None], options: list[str]) -> tuple[str, Path]:
    """Return the kind and the path of the one requested file.

    Raise BadParameter if not exactly one file is requested, or if an option does not apply to it.
    """
    requested = [(kind, file) for kind, file in files.items() if file is not None]
    if len(requested) != 1:
        *most, last = files
        raise typer.BadParameter(f"give exactly one of {', '.join(most)} and {last}")
    [(kind, file)] = requested
    for option in options:
        if option not in OPTIONS[kind]:
            kinds = [each for each, accepted in OPTIONS.items() if option in accepted]
            raise typer.BadParameter(
                f"{option} does not apply to {kind}, only to {' and '.join(kinds)}"
            )
    return kind, file


def _texts(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    kind: str,
    counted: Counted,
    step: int | None,
) -> Iterable[str]:
    """Return the text of a file of any kind except --chrome."""
    from ingest.export.memory.export import flame_graph
    from ingest.export.memory.page import memory_page

    def texts() -> Iterable[str]:
        match kind:
            case "--stacks":
                return collapsed(connection, run_id, counted, step)
            case "--speedscope":
                return speedscope(connection, run_id, counted, step)
            case "--memory-html":
                return [memory_page(connection, run_id)]
            case _:
                return [flame_graph(connection, run_id, GRAPHS[kind])]

    return read(connection, texts)


def _bounds(
    connection: duckdb.DuckDBPyConnection, run_id: str, since: str | None, until: str | None
) -> tuple[int | None, int | None]:
    """Return the times of --from and --to, Unix ns."""
    if since is None and until is None:
        return None, None
    first = first_event(connection, run_id)
    if first is None:
        raise MissingError(f"{run_id}: the run has no trace")
    since_ns = None if since is None else _unix_ns("--from", since, first)
    until_ns = None if until is None else _unix_ns("--to", until, first)
    if since_ns is not None and until_ns is not None and since_ns >= until_ns:
        raise typer.BadParameter("--from must be before --to")
    return since_ns, until_ns


def _unix_ns(option: str, text: str, first_ns: int) -> int:
    """Parse a time and return it in Unix ns. A time with a unit counts from the first event."""
    if text.isdecimal() and int(text) >= first_ns:
        return int(text)
    try:
        return first_ns + parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{option}: {error}, or a Unix time in ns during the run"
        ) from error


def _duration(option: str, text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}") from error

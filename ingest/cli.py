"""The command `ingest`: thin commands over what the package offers to any program."""

import io
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from ingest import connect
from ingest.errors import IngestError, QueryError
from ingest.output import diagnostics, printable, results, table, write_query
from ingest.parallel import add_all
from ingest.run import RunLabels
from ingest.sql import macros, tables, views
from ingest.store import Added, Store, default_store
from ingest.top import top as ranking_tables

app = typer.Typer(
    help="Profiles in, one queryable store out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="The store; else TRACEHOUSE_STORE, else ./store."),
]
RunArgument = Annotated[str, typer.Argument(help="A run's id, its beginning, or its name.")]


class Mode(StrEnum):
    """How a model was run."""

    eager = "eager"
    compiled = "compiled"


class Level(StrEnum):
    """What a ranking counts by."""

    op = "op"
    leaf = "leaf"
    kernel = "kernel"


class Format(StrEnum):
    """How a query's result is written."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


@app.command()
def add(
    paths: Annotated[
        list[Path], typer.Argument(help="Run directories or single traces.", readable=False)
    ],
    store: StoreOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    model: Annotated[str | None, typer.Option(help="Model that was profiled.")] = None,
    mode: Annotated[Mode | None, typer.Option(help="How the model was run.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="K=V; may be given often.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that share the runs.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Results as JSON lines.")] = False,
) -> None:
    """Add profiles to the store: each path becomes a run."""
    labels = RunLabels(name, model, mode and mode.value, _tags(tag or []))
    paths = list(dict.fromkeys(paths))
    failed = False
    with _progress() as progress:
        sizes = {path: _size(path) for path in paths}
        names = {path: printable(path.name) for path in paths}
        bars = {path: progress.add_task(names[path], total=sizes[path]) for path in paths}

        def advance(path: Path, done: int) -> None:
            what = names[path] if done < sizes[path] else f"{names[path]}: linking and writing"
            progress.update(bars[path], completed=done, description=what)

        for path, outcome in add_all(Store(store or default_store()), paths, labels, jobs, advance):
            progress.remove_task(bars[path])
            failed |= _report(path, outcome, as_json)
    if failed:
        raise typer.Exit(1)


@app.command("list")
def list_runs(store: StoreOption = None) -> None:
    """List the runs of the store."""
    write_query(
        connect(_open(store).path),
        """
        SELECT run_id, model, mode, device_name AS device, ranks, events, activities,
            round(span_ns / 1e6, 3) AS span_ms, round(bubble_percent, 1) AS "bubble %", started_at
        FROM run_overview ORDER BY ingested_at, run_id
        """,
    )


@app.command()
def show(run: RunArgument, store: StoreOption = None) -> None:
    """Show a run: where it comes from, its files, its devices."""
    opened = _open(store)
    run_id, connection = opened.find(run), connect(opened.path)
    row = connection.execute(
        """
        SELECT run_id, name, model, mode, device_name AS device, started_at, ingested_at,
            array_to_string(list_transform(
                map_entries(tags), LAMBDA tag: tag.key || '=' || tag.value
            ), ', ') AS tags, ranks, devices, events, activities
        FROM run_overview WHERE run_id = $1
        """,
        [run_id],
    ).fetchall()[0]
    names = [column[0] for column in connection.description]
    results().print(table(("", "run"), zip(names, row, strict=True)))
    for path, line, warnings in connection.execute(
        """
        SELECT path, concat_ws(', ', kind, 'rank ' || rank, status,
            format('{:,} bytes', bytes), format('{:,} events', events),
            format('{:,} rows', complete),
            nullif(array_to_string(list_transform(
                map_entries(other), LAMBDA entry: format('{:,} × ', entry.value) || entry.key
            ), ', '), ''),
            'dropped: ' || nullif(array_to_string(list_transform(
                map_entries(dropped), LAMBDA entry: format('{:,} × ', entry.value) || entry.key
            ), ', '), '')), warnings
        FROM sources WHERE run_id = $1 ORDER BY source_id
        """,
        [run_id],
    ).fetchall():
        for said in (path, f"  {line}", *(f"  {warning}" for warning in warnings)):
            print(printable(said))
    write_query(
        connection,
        """
        SELECT rank, device, activities, round(span_ns / 1e6, 3) AS span_ms,
            round(busy_ns / 1e6, 3) AS busy_ms, round(bubble_ns / 1e6, 3) AS bubble_ms, bubbles
        FROM device_totals WHERE run_id = $1 ORDER BY rank, device
        """,
        [run_id],
    )


@app.command()
def remove(run: RunArgument, store: StoreOption = None) -> None:
    """Remove a run from the store, whole and at once."""
    opened = _open(store)
    run_id = opened.find(run)
    opened.remove(run_id)
    results().print(f"removed {run_id}", markup=False)


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="A table, view or macro.")] = None,
    store: StoreOption = None,
) -> None:
    """Describe the tables, views and macros, or the columns of one."""
    connection = connect(_open(store).path)
    if name is None:
        write_query(
            connection,
            "SELECT view_name AS name, comment FROM duckdb_views() WHERE NOT internal UNION ALL "
            "SELECT function_name AS name, comment FROM duckdb_functions() "
            "WHERE function_type = 'table_macro' AND NOT internal ORDER BY name",
        )
        return
    documented = {file.name: file.documentation for file in (*tables(), *views(), *macros())}
    if name not in documented:
        raise QueryError(f"{name}: no such table, view or macro; see `ingest schema`")
    if name in {macro.name for macro in macros()}:
        results().print(table(("column", "comment"), documented[name].columns.items()))
        return
    write_query(
        connection,
        "SELECT column_name AS column, data_type AS type, comment FROM duckdb_columns() "
        "WHERE table_name = $1 ORDER BY column_index",
        [name],
    )


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="A query over the tables and views.")],
    output_format: Annotated[Format, typer.Option("--format", help="Of the result.")] = (
        Format.table
    ),
    store: StoreOption = None,
) -> None:
    """Run a query and write its result to stdout."""
    connection = connect(_open(store).path)
    write_query(connection, query, output_format=output_format.value)


@app.command()
def top(
    run: RunArgument,
    by: Annotated[Level, typer.Option(help="Outermost op, innermost op or kernel.")] = Level.op,
    limit: Annotated[int, typer.Option(min=1, help="Rows of each table.")] = 20,
    store: StoreOption = None,
) -> None:
    """Rank a run's operators or kernels by device time, idle time among them."""
    opened = _open(store)
    console = results()
    for part in ranking_tables(connect(opened.path), opened.find(run), by.value, limit):
        console.print(part)


def _open(path: Path | None) -> Store:
    """The store to work on; says so when there was none."""
    wanted = path or default_store()
    if not wanted.exists():
        print(f"{wanted}: a new, empty store", file=sys.stderr)
    return Store(wanted)


def _tags(pairs: list[str]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise typer.BadParameter(f"{pair}: a tag is written KEY=VALUE", param_hint="--tag")
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeElapsedColumn(),
        console=diagnostics,
        transient=True,
        disable=not diagnostics.is_terminal,
    )


def _size(path: Path) -> int:
    try:
        files = path.iterdir() if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files if file.is_file())
    except OSError:
        return 0  # what is wrong with it is told when it is read


def _report(path: Path, outcome: Added | IngestError, as_json: bool) -> bool:
    """Prints what became of a path; whether something of it failed."""
    if isinstance(outcome, IngestError):
        _say_error(outcome)
        return True
    failed = [source for source in outcome.sources if source.status == "failed"]
    for source in failed:
        _say_error(source.warnings[0])
    if as_json:
        print(json.dumps(outcome.as_dict(path)))
    elif not outcome.is_new:
        print(
            printable(f"{path}: already in the store as {outcome.run_id}, with the labels it had")
        )
    else:
        print(f"{outcome.run_id}  ({outcome.seconds:.1f} s)")
        for source in outcome.sources:
            print(printable(f"  {source.summary()}"))
    return bool(failed)


def _say_error(error: object) -> None:
    print("\n".join(map(printable, f"error: {error}".split("\n"))), file=sys.stderr)


def main() -> None:
    """Entry point: errors for the user become one line on stderr and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a name
    try:
        app()
    except IngestError as error:
        _say_error(error)
        sys.exit(error.exit_code)

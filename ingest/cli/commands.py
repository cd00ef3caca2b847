"""The commands of `ingest`: thin wrappers around the package's Python interface."""

import sys
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from ingest.cli.key_averages import key_averages
from ingest.cli.labels import Mode, tags_of
from ingest.cli.profile_analyze import profile_analyze
from ingest.cli.top import recompiled, warn
from ingest.cli.top import top as ranking_tables
from ingest.cli.upkeep import check, edit, remove, upgrade
from ingest.comparison.commands import diff
from ingest.comparison.sweep import sweep
from ingest.errors import QueryError
from ingest.export.commands import export
from ingest.formats import max_inflation, max_snapshot_bytes
from ingest.inputs import run_directories
from ingest.memory.commands import memory
from ingest.perfetto.commands import open_trace
from ingest.pipeline import AddOptions
from ingest.sql import macros, relations, start_here
from ingest.store.connection import connect, read
from ingest.store.store import Store, default_store
from ingest.terminal import (
    RunArgument,
    StoreOption,
    add_with_progress,
    open_store,
    results,
    table,
    write_query,
)
from ingest.units import printable

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Level(StrEnum):
    """The level of a ranking: outermost operators, innermost operators or kernels."""

    op = "op"
    leaf = "leaf"
    kernel = "kernel"


class Format(StrEnum):
    """The format of a query's result."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


@app.callback()
def ingest(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Load model profiles into a store, and query them."""
    if version:
        results().print(f"tracehouse {metadata.version('tracehouse')}", markup=False)
        raise typer.Exit


DEVICES = """
    SELECT rank, device, activities, round(span_ns / 1e6, 3) AS span_ms,
        round(busy_ns / 1e6, 3) AS busy_ms, round(idle_ns / 1e6, 3) AS idle_ms, bubbles
    FROM device_totals WHERE run_id = $1 ORDER BY rank, device
"""
STAGES = """
    SELECT rank, device, pipeline, calls, coalesce(stage, 'the call') AS stage,
        if(level = 'block', coalesce(block_class, 'outside of blocks'), NULL) AS block_class,
        round(wall_ns / 1e6, 3) AS wall_ms,
        round(percent, 1) AS percent, round(idle_ns / 1e6, 3) AS idle_ms
    FROM stage_summary WHERE run_id = $1
    ORDER BY rank, device, pipeline, ordinal, level DESC, wall_ns DESC
"""
COMPILATIONS = """
    SELECT rank, compile_id, compiled_frame AS function, round(dur_ns / 1e9, 3) AS seconds, cache,
        graph_breaks,
        is_in_measured_step AS measured, reason
    FROM compilations WHERE run_id = $1 ORDER BY rank, start_ns NULLS FIRST, compile_id
"""
MEMORY = """
    SELECT rank, device_label(device_type, device) AS device, origin, actions,
        round(peak_bytes / 1048576, 2) AS peak_mib,
        round(peak_reserved_bytes / 1048576, 2) AS peak_reserved_mib,
        round(end_bytes / 1048576, 2) AS end_mib
    FROM memory_peak AS peak WHERE run_id = $1
    ORDER BY rank, source_id, device_type, peak.device
"""


@app.command()
def add(
    paths: Annotated[
        list[Path], typer.Argument(help="Run directories or single files.", readable=False)
    ],
    store: StoreOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    model: Annotated[str | None, typer.Option(help="Model that was profiled.")] = None,
    mode: Annotated[Mode | None, typer.Option(help="How the model was run.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag, KEY=VALUE. Repeatable.")] = None,
    capture_trace: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A trace of captures of CUDA graphs. Repeatable."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Number of processes. Each adds one run at a time.")
    ] = 1,
    keep_metadata: Annotated[
        bool, typer.Option("--keep-metadata", help="Keep values that look like secrets.")
    ] = False,
    redact_paths: Annotated[
        bool, typer.Option("--redact-paths", help="Make source paths relative.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Add profiles to the store. Each path becomes a run.

    Each directory below a path with torch.profiler traces for TensorBoard also becomes a run.

    Values that look like secrets are redacted, unless --keep-metadata is given. With
    --redact-paths, paths of source files become relative to their package or to the current
    directory.
    """
    # Check these settings first: a wrong one would otherwise be reported for each path.
    max_inflation()
    max_snapshot_bytes()
    captures = [str(file.absolute()) for file in capture_trace or ()]
    options = AddOptions(
        name,
        model,
        mode and mode.value,
        tags_of(tag or []),
        keep_metadata,
        redact_paths,
        capture_traces=captures,
    )
    runs = [run for path in paths for run in run_directories(path)]
    if not add_with_progress(Store(store or default_store()), runs, options, jobs, as_json):
        raise typer.Exit(1)


@app.command("list")
def list_runs(store: StoreOption = None) -> None:
    """List the runs of the store, newest first."""
    write_query(
        connect(open_store(store)),
        """
        SELECT run_id, model, mode, device_name AS device, ranks, events, activities,
            round(span_ns / 1e6, 3) AS span_ms, round(idle_percent, 1) AS "idle %",
            round(peak_bytes / 1048576)::BIGINT AS peak_mib, recompiles, started_at
        FROM run_overview ORDER BY ingested_at DESC, run_id
        """,
    )


@app.command()
def show(run: RunArgument, store: StoreOption = None) -> None:
    """Show a run: its origin, files, devices, stages, memory and compilations."""
    opened = open_store(store)
    run_id, connection = opened.find(run), connect(opened)

    def rows(query: str) -> list[tuple[Any, ...]]:
        return read(connection, lambda: connection.execute(query, [run_id]).fetchall())

    def labels() -> tuple[list[str], list[tuple[Any, ...]]]:
        found = connection.execute(
            """
            SELECT run_id, name, model, mode, device_name AS device, started_at, ingested_at,
                array_to_string(list_transform(
                    map_entries(tags), LAMBDA tag: tag.key || '=' || tag.value
                ), ', ') AS tags, ranks, devices, events, activities
            FROM run_overview WHERE run_id = $1
            """,
            [run_id],
        )
        return [column[0] for column in found.description], found.fetchall()

    names, found = read(connection, labels)
    for row in found:
        results().print(table(("", "run"), zip(names, row, strict=True)))
    for path, line, warnings in rows(
        """
        SELECT path, concat_ws(', ', kind, 'rank ' || rank, 'cycle ' || cycle, status,
            format('{:,} bytes', bytes),
            format('{:,} event{}', events, if(events = 1, '', 's')),
            format('{:,} row{}', complete_events, if(complete_events = 1, '', 's')),
            nullif(array_to_string(list_transform(
                map_entries(other_counts),
                LAMBDA entry: format('{:,} × ', entry.value) || entry.key
            ), ', '), ''),
            'dropped: ' || nullif(array_to_string(list_transform(
                map_entries(dropped_counts),
                LAMBDA entry: format('{:,} × ', entry.value) || entry.key
            ), ', '), '')), warnings
        FROM sources
        WHERE run_id = $1
            AND list_contains(warning_codes, 'in_directory_below') IS NOT TRUE
        ORDER BY source_id
        """
    ):
        for text in (path, f"  {line}", *(f"  {warning}" for warning in warnings)):
            print(printable(text))
    for (below,) in rows(
        """
        SELECT format('{:,} file{}', count(*), if(count(*) = 1, '', 's')) AS files FROM sources
        WHERE run_id = $1 AND list_contains(warning_codes, 'in_directory_below')
        HAVING count(*) > 0
        """
    ):
        print(f"{below} in directories of the run, not read: table sources lists them")
    if warning := read(connection, lambda: recompiled(connection, run_id)):
        print(f"warning: {warning}", file=sys.stderr)
    for query in (DEVICES, STAGES, MEMORY, COMPILATIONS):
        if rows(query):
            write_query(connection, query, [run_id])


@app.command()
def schema(
    name: Annotated[
        str | None, typer.Argument(help="A table, view or macro. Default: list all of them.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """List the tables, views and macros, or describe the columns of one."""
    connection = connect(open_store(store))
    if name is None:
        results().print(table(("start here", "question"), start_here().items()))
        write_query(
            connection,
            "SELECT view_name AS name, comment FROM duckdb_views() WHERE NOT internal UNION ALL "
            "SELECT function_name AS name, comment FROM duckdb_functions() "
            "WHERE function_type = 'table_macro' AND comment IS NOT NULL ORDER BY name",
        )
        return
    documented = {file.name: file.documentation for file in relations()}
    if name not in documented:
        raise QueryError(f"{name}: no such table, view or macro; `ingest schema` lists them")
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
    query: Annotated[str, typer.Argument(help="A SQL query over the tables and views.")],
    output_format: Annotated[Format, typer.Option("--format", help="Format of the result.")] = (
        Format.table
    ),
    store: StoreOption = None,
) -> None:
    """Run a query and write its result to stdout."""
    connection = connect(open_store(store))
    write_query(connection, query, output_format=output_format.value)


@app.command()
def top(
    run: RunArgument,
    by: Annotated[
        Level, typer.Option(help="Rank outermost operators, innermost operators or kernels.")
    ] = Level.op,
    limit: Annotated[int, typer.Option(min=0, help="Rows of each table. 0 shows all.")] = 20,
    wide: Annotated[bool, typer.Option("--wide", help="Do not shorten long names.")] = False,
    store: StoreOption = None,
) -> None:
    """Rank a run's operators or kernels by device time. Idle time is a row of the table."""
    opened = open_store(store)
    console = results()
    run_id, connection = opened.find(run), connect(opened)
    warn(connection, run_id)
    for part in read(
        connection, lambda: list(ranking_tables(connection, run_id, by.value, limit, wide))
    ):
        console.print(part)


app.command("table")(key_averages)
app.command("open")(open_trace)
app.command("profile-analyze")(profile_analyze)
for command in (edit, remove, upgrade, check, diff, sweep, memory, export):
    app.command()(command)

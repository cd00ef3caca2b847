"""The commands `ingest list` and `ingest show`."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

import duckdb
import typer

from ingest.cli.terminal import (
    RunArgument,
    StoreOption,
    open_store,
    results,
    table,
    warn,
    write_query,
)
from ingest.inputs.run_input import IN_DIRECTORY_BELOW
from ingest.reports import Section, runs
from ingest.store.connection import connect, read
from ingest.units import counted, printable

# The printed columns of each section, by its title.
PRINTED = {
    "Runs": """
        run_id, model, mode, device_name AS device, ranks, events, activities,
        round(span_ns / 1e6, 3) AS span_ms, round(idle_percent, 1) AS "idle %",
        round(mfu_percent, 1) AS "mfu %", round(peak_bytes / 1048576)::BIGINT AS peak_mib,
        recompiles, started_at
    """,
    "Devices": """
        rank, device, activities, round(span_ns / 1e6, 3) AS span_ms,
        round(busy_ns / 1e6, 3) AS busy_ms, round(idle_ns / 1e6, 3) AS idle_ms, bubbles
    """,
    "Stages": """
        rank, device, pipeline, calls, coalesce(stage, 'the call') AS stage,
        if(level = 'block', coalesce(block_class, 'outside of blocks'), NULL) AS block_class,
        round(wall_ns / 1e6, 3) AS wall_ms, round(percent, 1) AS percent,
        round(idle_ns / 1e6, 3) AS idle_ms, round(1e3 * tflop_per_s, 2) AS gflop_per_s,
        round(1e3 * tb_per_s, 2) AS gb_per_s, round(mfu_percent, 1) AS mfu_percent,
        round(known_percent, 1) AS known_percent
    """,
    "Memory": """
        rank, device_label(device_type, device) AS device, origin, actions,
        round(peak_bytes / 1048576, 2) AS peak_mib,
        round(peak_reserved_bytes / 1048576, 2) AS peak_reserved_mib,
        round(end_bytes / 1048576, 2) AS end_mib
    """,
    "Compilations": """
        rank, compile_id, compiled_frame AS function, round(dur_ns / 1e9, 3) AS seconds, cache,
        graph_breaks, is_in_measured_step AS measured, reason
    """,
}


def list_runs(
    store: StoreOption = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="List a store at a URL as it was at this time: 2026-11-29, 2026-11-29T23:14, "
            "in local time or with a zone.",
        ),
    ] = None,
) -> None:
    """List the runs of the store, newest first."""
    try:
        time = datetime.fromisoformat(as_of) if as_of else None
    except ValueError as error:
        raise typer.BadParameter(f"{as_of}: not a time as 2026-11-29T23:14") from error
    _print(connect(open_store(store, time)), runs.runs())


def show(run: RunArgument, store: StoreOption = None) -> None:
    """Show a run: its origin, files, devices, stages, memory and compilations."""
    opened = open_store(store)
    run_id = opened.find(run)
    connection = connect(opened, [run_id])
    for labels in read(connection, partial(runs.labels(run_id).query.rows, connection)):
        results().print(table(("", "run"), _labels(labels).items()))
    below = 0
    for file in read(connection, partial(runs.files([run_id]).query.rows, connection)):
        if IN_DIRECTORY_BELOW in (file["warning_codes"] or ()):
            below += 1
        else:
            for text in (file["path"], f"  {_facts(file)}", *map("  {}".format, file["warnings"])):
                print(printable(text))
    if below:
        number = counted(below, "file")
        print(f"{number} in directories of the run, not read: table sources lists them")
    warn(read(connection, lambda: runs.recompiled(connection, run_id)))
    for section in runs.contents(run_id):
        if read(connection, partial(section.query.rows, connection)):
            _print(connection, section)


def _print(connection: duckdb.DuckDBPyConnection, section: Section) -> None:
    query = f"SELECT {PRINTED[section.title]} FROM ({section.query.text})"
    write_query(connection, query, section.query.parameters)


def _labels(row: dict[str, Any]) -> dict[str, Any]:
    tags = ", ".join(f"{key}={value}" for key, value in (row["tags"] or {}).items())
    labels = row | {"tags": tags}
    return {"device" if name == "device_name" else name: value for name, value in labels.items()}


def _facts(file: dict[str, Any]) -> str:
    """Return what is known about a file, in one line."""
    rows = file["complete_events"]
    facts = [
        file["kind"],
        None if file["rank"] is None else f"rank {file['rank']}",
        None if file["cycle"] is None else f"cycle {file['cycle']}",
        file["status"],
        None if file["bytes"] is None else f"{file['bytes']:,} bytes",
        None if file["events"] is None else counted(file["events"], "event"),
        None if rows is None else counted(rows, "row"),
        _counts(file["other_counts"]),
        f"dropped: {counts}" if (counts := _counts(file["dropped_counts"])) else None,
    ]
    return ", ".join(filter(None, facts))


def _counts(counts: dict[str, int] | None) -> str:
    return ", ".join(f"{number:,} × {kind}" for kind, number in (counts or {}).items())

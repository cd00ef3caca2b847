"""What a store and a run contain: `ingest list` and `ingest show`."""

from collections.abc import Sequence

import duckdb

from ingest.reports import efficiency
from ingest.reports.query import Query, select
from ingest.reports.section import Section
from ingest.units import counted


def runs() -> Section:
    """Return the runs of a store, newest first."""
    return Section(
        "Runs",
        "run_list",
        select(
            "run_id, model, mode, device_name, ranks, events, activities, span_ns, idle_percent, "
            "mfu_percent, peak_bytes, recompiles, started_at",
            "run_list",
            order_by="ingested_at DESC, run_id",
        ),
    )


def labels(run_id: str) -> Section:
    """Return the labels of a run: one row."""
    return Section(
        "Labels",
        "run_overview",
        select(
            "run_id, name, model, mode, device_name, started_at, ingested_at, tags, ranks, "
            "devices, events, activities",
            "run_overview",
            {"run_id": run_id},
        ),
        (run_id,),
    )


def files(run_ids: Sequence[str]) -> Section:
    """Return the files of runs: those that were read, and those in directories of the run."""
    return Section(
        "Files",
        "sources",
        select(
            "parse_filename(path) AS file, status, warnings, run_id, kind, rank, cycle, bytes, "
            "events, complete_events, other_counts, dropped_counts, path, warning_codes",
            "sources",
            {"run_id": run_ids},
            order_by="run_id, source_id",
        ),
        tuple(run_ids),
        note="The files that each run was read from. Each event in a file is a row of `events` "
        "(complete events, which have a duration), a row of `other_events`, or counted as dropped.",
        labels={
            "run_id": "run",
            "bytes": "size",
            "events": "events in file",
            "other_counts": "other events",
            "dropped_counts": "dropped",
        },
    )


def contents(run_id: str) -> list[Section]:
    """Return the devices, stages, memory and compilations of a run.

    A section has no rows if the run has no such data.
    """
    return [
        _of_run(
            run_id,
            "Devices",
            "device_totals",
            "rank, device, activities, span_ns, busy_ns, idle_ns, bubbles",
            "rank, device",
        ),
        Section(
            "Stages",
            "stage_summary",
            efficiency.stages(
                {"run_id": run_id},
                "rank, device, pipeline, calls, stage, level, block_class, wall_ns, percent, "
                "idle_ns, tflop_per_s, tb_per_s, mfu_percent, known_percent",
            ),
            (run_id,),
        ),
        _of_run(
            run_id,
            "Memory",
            "memory_peak",
            "rank, device_type, device, origin, actions, peak_bytes, peak_reserved_bytes, "
            "end_bytes",
            "rank, source_id, device_type, device",
        ),
        _of_run(
            run_id,
            "Compilations",
            "compilations",
            "rank, compile_id, compiled_frame, dur_ns, cache, graph_breaks, is_in_measured_step, "
            "reason",
            "rank, start_ns NULLS FIRST, compile_id",
        ),
    ]


def _of_run(run_id: str, title: str, view: str, columns: str, order: str) -> Section:
    query = select(columns, view, {"run_id": run_id}, order_by=order)
    return Section(title, view, query, (run_id,))


def damaged(run_ids: Sequence[str]) -> Query:
    """Return the query for the runs with files that failed or ended early."""
    return select(
        "run_id, problems, devices",
        "run_overview",
        {"run_id": run_ids, "problems >": 0},
        order_by="run_id",
    )


def recompiles(run_ids: Sequence[str]) -> Query:
    """Return the query for the runs that torch recompiled while they were measured."""
    where = {"run_id": run_ids}
    return select("*", "measured_recompiles", where, order_by="recompiles DESC, run_id")


def warnings(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[str]:
    """Return warnings if a run is incomplete or was recompiled while it was measured."""
    return _damage(connection, run_id) + recompiled(connection, run_id)


def _damage(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[str]:
    """Return a warning if files of the run failed or ended early, because figures lack them."""
    warnings = []
    for row in damaged([run_id]).rows(connection):
        missing = "missing work looks like idle time"
        effect = missing if row["devices"] else "no device activity was read"
        number = counted(row["problems"], "file")
        warnings.append(f"{number} of {run_id} ended early or failed: {effect}")
    return warnings


def recompiled(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[str]:
    """Return a warning, with a reason, if torch recompiled while the run was measured."""
    warnings = []
    for row in recompiles([run_id]).rows(connection):
        times = "once" if row["recompiles"] == 1 else f"{row['recompiles']:,} times"
        first = next(iter(row["reasons"] or ()), None)
        because = f": {first.splitlines()[0]}" if first else ""
        during = f"while it was measured, in {row['dur_ns'] / 1e9:.3f} s"
        warnings.append(f"{run_id} recompiled {times} {during}{because}")
    return warnings

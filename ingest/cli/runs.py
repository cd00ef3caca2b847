"""The commands `ingest list` and `ingest show`."""

import sys
from typing import Any

from ingest.cli.ranking_tables import recompiled
from ingest.cli.terminal import RunArgument, StoreOption, open_store, results, table, write_query
from ingest.store.connection import connect, read
from ingest.units import printable

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

"""What a store and a run contain: `ingest list` and `ingest show`."""

from ingest.reports.query import Query

RUNS = """
    SELECT run_id, model, mode, device_name AS device, ranks, events, activities,
        round(span_ns / 1e6, 3) AS span_ms, round(idle_percent, 1) AS "idle %",
        round(peak_bytes / 1048576)::BIGINT AS peak_mib, recompiles, started_at
    FROM run_overview ORDER BY ingested_at DESC, run_id
"""
LABELS = """
    SELECT run_id, name, model, mode, device_name AS device, started_at, ingested_at,
        array_to_string(list_transform(
            map_entries(tags), LAMBDA tag: tag.key || '=' || tag.value
        ), ', ') AS tags, ranks, devices, events, activities
    FROM run_overview WHERE run_id = $1
"""
FILES = """
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
FILES_BELOW = """
    SELECT format('{:,} file{}', count(*), if(count(*) = 1, '', 's')) AS files FROM sources
    WHERE run_id = $1 AND list_contains(warning_codes, 'in_directory_below')
    HAVING count(*) > 0
"""
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


def runs() -> Query:
    """Return the query for the runs of a store, newest first."""
    return Query(RUNS)


def labels(run_id: str) -> Query:
    """Return the query for the labels of a run: one row."""
    return Query(LABELS, (run_id,))


def files(run_id: str) -> Query:
    """Return the query for the files of a run: path, a line of facts, and warnings."""
    return Query(FILES, (run_id,))


def files_below(run_id: str) -> Query:
    """Return the query for the number of files in directories of the run, if there are any."""
    return Query(FILES_BELOW, (run_id,))


def contents(run_id: str) -> list[Query]:
    """Return the queries for the devices, stages, memory and compilations of a run.

    A query returns no rows if the run has no such data.
    """
    return [Query(text, (run_id,)) for text in (DEVICES, STAGES, MEMORY, COMPILATIONS)]

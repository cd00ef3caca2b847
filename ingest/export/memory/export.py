"""Flame graphs of a run's memory snapshots."""

import duckdb

from ingest.errors import MissingError
from ingest.export.memory.flamegraph import Frame, render
from ingest.units import size

GRAPHS = {"memory": "by stack", "segments": "by segment and stack"}


def flame_graph(connection: duckdb.DuckDBPyConnection, run_id: str, graph: str) -> str:
    """Return a flame graph (SVG) of a run's snapshots, with the stacks of `_memory_viz.py`.

    `graph` is memory or segments, as in `memory_flames`. If there are several devices, they are
    side by side in one graph. Raise MissingError if the run has no snapshot.
    """
    rows = connection.execute(
        """
        WITH
        flames AS (
            SELECT
                flames.frames,
                flames.bytes,
                concat(
                    parse_filename(sources.path), ' rank ', flames.rank, ' ',
                    device_label(flames.device_type, flames.device)
                ) AS device_name
            FROM memory_flames AS flames
            INNER JOIN sources
                ON flames.run_id = sources.run_id AND flames.source_id = sources.source_id
            WHERE flames.run_id = $1 AND flame_graph = $2
        ),

        stacks AS (
            SELECT
                if((SELECT count(DISTINCT device_name) FROM flames) > 1, [device_name], [])
                || frames AS frames,
                bytes AS value,
                NULL::BIGINT AS base_value
            FROM flames
        ),

        calls AS (FROM calls_of_stacks('stacks'))

        SELECT id, caller_id, name, total_value::BIGINT
        FROM flame_graph('calls', most := NULL)
        ORDER BY height DESC, id
        """,
        [run_id, graph],
    ).fetchall()
    if not rows:
        raise MissingError(
            f"{run_id}: no memory snapshot with segments, which a flame graph needs; "
            "use --memory-html instead"
        )
    frames = [Frame(*row) for row in rows]
    total = sum(frame.weight for frame in frames if frame.caller_id is None)
    return render(frames, f"{run_id}: {size(total)} reserved, {GRAPHS[graph]}", size)

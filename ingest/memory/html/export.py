"""Flame graphs of the snapshots of a run."""

import duckdb

from ingest.errors import MissingError
from ingest.memory.html.flamegraph import Frame, render
from ingest.units import size

GRAPHS = {"memory": "by stack", "segments": "by segment and stack"}


def flame_graph(connection: duckdb.DuckDBPyConnection, run_id: str, graph: str) -> str:
    """A flame graph (SVG) of a run's snapshots, with the lines of `_memory_viz.py`.

    `graph` is memory or segments, as in `memory_flames`. Several devices stand beside each other in
    the one graph. Raises MissingError where the run has no snapshot.
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
                ) AS place
            FROM memory_flames AS flames
            INNER JOIN sources
                ON flames.run_id = sources.run_id AND flames.source_id = sources.source_id
            WHERE flames.run_id = $1 AND flame_graph = $2
        ),

        stacks AS (
            SELECT
                if((SELECT count(DISTINCT place) FROM flames) > 1, [place], []) || frames AS frames,
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
            f"{run_id}: no memory snapshot with segments, which a flame graph is made of; "
            "--memory-html needs none"
        )
    frames = [Frame(*row) for row in rows]
    total = sum(frame.weight for frame in frames if frame.caller_id is None)
    return render(frames, f"{run_id}: {size(total)} reserved, {GRAPHS[graph]}", size)

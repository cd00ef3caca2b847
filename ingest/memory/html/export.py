"""Flame graphs of the snapshots of a run."""

import duckdb

from ingest.errors import MissingError
from ingest.memory.html.flamegraph import Line, render
from ingest.units import size

GRAPHS = {"memory": "by stack", "segments": "by segment and stack"}


def flame_graph(connection: duckdb.DuckDBPyConnection, run_id: str, graph: str) -> str:
    """A flame graph (SVG) of a run's snapshots, with the lines of `_memory_viz.py`.

    `graph` is memory or segments, as in `memory_flames`. Several devices stand beside each other in
    the one graph. Raises MissingError where the run has no snapshot.
    """
    rows = connection.execute(
        """
        SELECT flames.source_id, parse_filename(sources.path), flames.rank,
            device_label(flames.device_type, flames.device), flames.frames, flames.bytes
        FROM memory_flames AS flames
        INNER JOIN sources
            ON flames.run_id = sources.run_id AND flames.source_id = sources.source_id
        WHERE flames.run_id = $1 AND flame_graph = $2
        ORDER BY flames.source_id, flames.device_type, flames.device, flames.frames
        """,
        [run_id, graph],
    ).fetchall()
    if not rows:
        raise MissingError(
            f"{run_id}: no memory snapshot with segments, which a flame graph is made of; "
            "--memory-html needs none"
        )
    several = len({(row[0], row[3]) for row in rows}) > 1
    lines: list[Line] = []
    for _, name, rank, device, frames, held in rows:
        first = [f"{name} rank {rank} {device}"] if several else []
        lines.append(([*first, *frames], held))
    total = sum(held for _, held in lines)
    return render(lines, f"{run_id}: {size(total)} reserved, {GRAPHS[graph]}", size)

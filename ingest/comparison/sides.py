"""A side of a comparison: its runs, and the run that represents them."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from ingest.errors import MissingError


@dataclass(frozen=True)
class Side:
    """A side of a comparison. `run` is the run with the median wall time.

    The other fields describe that run: its compared rank and device, why that rank is shown by
    default (`run_metrics.default_reason`), what was measured (`measure`: device or host), the
    number of its steps, its median step, and the first and third quartile of the steps' wall times,
    in ns. Step and quartiles are None if no steps were found.
    """

    runs: list[str]
    run: str
    rank: int
    device: int | None
    default_reason: str | None
    measure: str
    steps: int
    steps_from: str
    step_name: str | None
    step: int | None
    q1_wall_ns: int | None
    q3_wall_ns: int | None

    @property
    def is_group(self) -> bool:
        """Whether the side has several runs."""
        return len(self.runs) > 1


def side_of(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[str], rank: int | None
) -> tuple[Side, list[str]]:
    """Return the side of these runs, and a sentence about each run that has nothing to compare.

    `runs` are full ids. `rank` selects a rank; None selects each run's default rank. Raise
    MissingError if no run has anything to compare, or if a run is not in the store.
    """
    if not runs:
        raise MissingError("a side of the comparison has no runs")
    for run in runs:
        if not connection.execute("FROM runs WHERE run_id = $1", [run]).fetchall():
            raise MissingError(f"{run}: no run has this id; give the full id")
    measured = connection.sql(
        """
        SELECT run_id, rank, device, default_reason, measure, steps, steps_from, step_name,
            step, q1_wall_ns, q3_wall_ns
        FROM run_metrics AS summary
        WHERE run_id IN $runs
            AND is_compared($rank, summary.rank, is_default, is_slowest_of_rank)
        ORDER BY wall_ns, busy_ns, run_id
        """,
        params={"runs": [*runs], "rank": rank},
    ).fetchall()
    known = sorted(row[0] for row in measured)
    missing = [_why_missing(connection, run, rank) for run in sorted({*runs} - {*known})]
    if not measured:
        raise MissingError(missing[0])
    return Side(known, *measured[(len(measured) - 1) // 2]), missing


def _why_missing(connection: duckdb.DuckDBPyConnection, run: str, rank: int | None) -> str:
    rows = connection.execute(
        "SELECT DISTINCT rank FROM run_metrics WHERE run_id = $1 ORDER BY rank", [run]
    ).fetchall()
    if rows:
        return f"{run}: no rank {rank}; the run has {', '.join(str(known) for (known,) in rows)}"
    return f"{run}: nothing to compare; the run has no operators and no device activity"

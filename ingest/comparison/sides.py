"""A side of a comparison: the runs that it has, and the one that stands for them."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from ingest.errors import MissingError


@dataclass(frozen=True)
class Side:
    """A side of a comparison, and of its runs the one with the median wall time: `run`.

    Of that run: what was measured (`measure`: device or host), the number of its steps, its median
    step, and the wall times, ns, that a quarter and three quarters of the steps do not exceed; null
    where no steps were found.
    """

    runs: list[str]
    run: str
    rank: int
    device: int | None
    measure: str
    steps: int
    steps_from: str
    step_name: str | None
    step: int | None
    q1_wall_ns: int | None
    q3_wall_ns: int | None

    @property
    def is_group(self) -> bool:
        """Whether there are several runs."""
        return len(self.runs) > 1


def side_of(
    connection: duckdb.DuckDBPyConnection, runs: Sequence[str], rank: int | None
) -> tuple[Side, list[str]]:
    """The side of these runs, by id, and a sentence on each that has nothing to compare.

    Of each run the rank counts, else its slowest. Raises MissingError where no run has that, or a
    run is not in the store.
    """
    if not runs:
        raise MissingError("a side of the comparison has no run")
    for run in runs:
        if not connection.execute("FROM runs WHERE run_id = $1", [run]).fetchall():
            raise MissingError(f"{run}: no such run; runs go by their whole ids here")
    measured = connection.sql(
        """
        SELECT run_id, rank, device, measure, steps, steps_from, step_name,
            step, q1_wall_ns, q3_wall_ns
        FROM run_metrics AS summary
        WHERE run_id IN $runs
            AND is_compared($rank, summary.rank, is_slowest, is_slowest_of_rank)
        ORDER BY wall_ns, busy_ns, run_id
        """,
        params={"runs": [*runs], "rank": rank},
    ).fetchall()
    known = sorted(row[0] for row in measured)
    missing = [_why_not(connection, run) for run in sorted({*runs} - {*known})]
    if not measured:
        raise MissingError(missing[0])
    return Side(known, *measured[(len(measured) - 1) // 2]), missing


def _why_not(connection: duckdb.DuckDBPyConnection, run: str) -> str:
    rows = connection.execute(
        "SELECT DISTINCT rank FROM run_metrics WHERE run_id = $1 ORDER BY rank", [run]
    ).fetchall()
    if rows:
        return f"{run}: has no such rank, only {', '.join(str(rank) for (rank,) in rows)}"
    return f"{run}: holds no times to compare: no operator and no device activity of it was read"

"""Time intervals of a run's ranks: a step, or the interval between two times."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import duckdb

from ingest.errors import MissingError
from ingest.reports import trace_clocks

EVER = 1 << 62  # ns; no event is later than this, or earlier than its negative


class Clock(NamedTuple):
    """How far a rank's clock is ahead of the reference clock of its run, ns: view `clocks_at`.

    The uncertainty is None if it is unknown, and the drift if it is not significant.
    """

    ahead_ns: int
    uncertainty_ns: int | None
    drift_ppm: float | None


@dataclass(frozen=True)
class Interval:
    """A time interval of a rank, Unix ns on the rank's own clock.

    A file may have two sides, such as two runs. Their anchors are then drawn at the same time. An
    anchor is on the clock that the ranks of a side share: of several ranks the reference clock of
    the lowest. `clock` is None if it cannot be compared with that. `is_alone` tells whether the
    side has no other rank.
    """

    run_id: str
    rank: int
    since_ns: int = -EVER
    until_ns: int = EVER
    anchor_ns: int | None = None
    side: int = 0
    step: int | None = None
    clock: Clock | None = None
    is_alone: bool = True

    @property
    def ahead_ns(self) -> int:
        """How far the rank's clock is ahead of the clock of its side, ns; 0 if unknown."""
        return self.clock.ahead_ns if self.clock else 0

    @property
    def is_unbounded(self) -> bool:
        """Whether the interval contains all events."""
        return (self.since_ns, self.until_ns) == (-EVER, EVER)


def intervals_of(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    ranks: Sequence[int] = (),
    step: int | None = None,
    since_ns: int | None = None,
    until_ns: int | None = None,
) -> list[Interval]:
    """Return an interval for each of `ranks`, or for all ranks if `ranks` is empty.

    It is a step with all its work, or the time from `since_ns` to `until_ns`, Unix ns: on the
    rank's own clock if there is one rank, else on the reference clock. Raise MissingError if the
    run has no trace of a rank, or no such step.
    """
    traced = _ranks(connection, run_id)
    if not traced:
        raise MissingError(f"{run_id}: the run has no trace")
    for rank in ranks:
        if rank not in traced:
            known = ", ".join(map(str, traced))
            raise MissingError(f"{run_id}: no trace of rank {rank}; there are traces of {known}")
    chosen = [rank for rank in traced if not ranks or rank in ranks]
    if step is not None:
        return _of_step(connection, run_id, chosen, step, is_required=bool(ranks))
    unbounded = [Interval(run_id, rank, anchor_ns=since_ns) for rank in chosen]
    at_ns = until_ns if since_ns is None else since_ns
    return [
        replace(
            interval,
            since_ns=interval.since_ns if since_ns is None else since_ns + interval.ahead_ns,
            until_ns=interval.until_ns if until_ns is None else until_ns + interval.ahead_ns,
        )
        for interval in _with_clocks(connection, unbounded, at_ns)
    ]


def steps_of_two(
    connection: duckdb.DuckDBPyConnection,
    runs: tuple[str, str],
    ranks: Sequence[int],
    step: int,
    other_step: int | None,
) -> list[Interval]:
    """Return a step of each of two runs, as two sides that start at the same time.

    `other_step` is the step of the second run, None for the same step. All ranks of the second run
    are included if it has none of `ranks`. Raise MissingError as `intervals_of` does.
    """
    run_id, other = runs
    other_ranks = [rank for rank in _ranks(connection, other) if rank in ranks]
    second_step = step if other_step is None else other_step
    second = intervals_of(connection, other, other_ranks, second_step)
    return [
        *intervals_of(connection, run_id, ranks, step),
        *(replace(interval, side=1) for interval in second),
    ]


def _of_step(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    ranks: Sequence[int],
    step: int,
    is_required: bool,
) -> list[Interval]:
    """Return the step of each rank that has it.

    Raise MissingError if no rank has it or, with `is_required`, if one of the ranks does not.
    """
    rows = connection.execute(
        "SELECT rank, count(DISTINCT source_id), min(start_ns), max(work_end_ns) "
        "FROM step_metrics WHERE run_id = $1 AND step = $2 GROUP BY rank ORDER BY rank",
        [run_id, step],
    ).fetchall()
    steps = {rank: times for rank, *times in rows if rank in ranks}
    for rank in ranks:
        if rank not in steps and (is_required or not steps):
            known = _known_steps(connection, run_id, rank)
            raise MissingError(f"{run_id}: rank {rank} has no step {step}; {known}")
    for rank, (files, *_) in steps.items():
        if files > 1:
            raise MissingError(
                f"{run_id}: {files} files of rank {rank} have a step {step}; select a time "
                "interval instead"
            )
    intervals = [
        Interval(run_id, rank, start, end, step=step) for rank, (_, start, end) in steps.items()
    ]
    at_ns = min(interval.since_ns for interval in intervals)
    timed = _with_clocks(connection, intervals, at_ns)
    anchor_ns = min(interval.since_ns - interval.ahead_ns for interval in timed)
    return [replace(interval, anchor_ns=anchor_ns) for interval in timed]


def _with_clocks(
    connection: duckdb.DuckDBPyConnection, intervals: list[Interval], at_ns: int | None
) -> list[Interval]:
    """Add the clocks of several ranks of a run at a time, or in the middle of the collectives."""
    if len(intervals) < 2:
        return intervals
    query = trace_clocks.of_ranks(
        intervals[0].run_id, [interval.rank for interval in intervals], at_ns
    )
    clocks = {
        row["rank"]: Clock(row["ahead_ns"], row["uncertainty_ns"], row["drift_ppm"])
        for row in query.rows(connection)
        if row["ahead_ns"] is not None
    }
    return [
        replace(interval, clock=clocks.get(interval.rank), is_alone=False) for interval in intervals
    ]


def first_event(connection: duckdb.DuckDBPyConnection, run_id: str) -> int | None:
    """Return the start of a run's first event, Unix ns, or None if the run has no trace."""
    [(first,)] = connection.execute(
        "SELECT min(start_ns) FROM events WHERE run_id = $1", [run_id]
    ).fetchall()
    return None if first is None else int(first)


def _ranks(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT rank FROM sources WHERE run_id = $1 AND complete_events > 0 ORDER BY rank",
        [run_id],
    ).fetchall()
    return [rank for (rank,) in rows]


def _known_steps(connection: duckdb.DuckDBPyConnection, run_id: str, rank: int) -> str:
    [(first, last)] = connection.execute(
        "SELECT min(step), max(step) FROM steps WHERE run_id = $1 AND rank = $2", [run_id, rank]
    ).fetchall()
    return "it has no steps" if first is None else f"its steps are {first} to {last}"

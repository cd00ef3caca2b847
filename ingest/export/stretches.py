"""Stretches of the time of a run's ranks: a step, or from one moment to another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb

from ingest.errors import MissingError

EVER = 1 << 62  # ns: beyond any event, in both directions


@dataclass(frozen=True)
class Stretch:
    """A stretch of time of a rank, Unix ns.

    In a file of two sides, such as two runs, their anchors stand at the same time.
    """

    run_id: str
    rank: int
    since_ns: int = -EVER
    until_ns: int = EVER
    anchor_ns: int | None = None
    side: int = 0
    step: int | None = None

    @property
    def is_whole(self) -> bool:
        return (self.since_ns, self.until_ns) == (-EVER, EVER)


def stretches(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    ranks: Sequence[int] = (),
    step: int | None = None,
    since_ns: int | None = None,
    until_ns: int | None = None,
) -> list[Stretch]:
    """A stretch for each of the ranks, or for all: a step with all its work, or the given times.

    Times are Unix ns. Raises MissingError where the run has no trace of a rank, or no such step.
    """
    found = _ranks(connection, run_id)
    if not found:
        raise MissingError(f"{run_id}: no trace was recorded")
    for rank in ranks:
        if rank not in found:
            known = ", ".join(map(str, found))
            raise MissingError(f"{run_id}: no trace of rank {rank}; there are traces of {known}")
    chosen = [rank for rank in found if not ranks or rank in ranks]
    if step is not None:
        return _of_step(connection, run_id, chosen, step, is_asked=bool(ranks))
    since = -EVER if since_ns is None else since_ns
    until = EVER if until_ns is None else until_ns
    return [Stretch(run_id, rank, since, until, since_ns) for rank in chosen]


def steps_of_two(
    connection: duckdb.DuckDBPyConnection,
    runs: tuple[str, str],
    ranks: Sequence[int],
    step: int,
    other_step: int | None,
) -> list[Stretch]:
    """A step of each of two runs, whose starts are at the same time; the same step without another.

    The second run takes part with all its ranks if it has none of `ranks`. Raises MissingError as
    `stretches` does.
    """
    run_id, other = runs
    other_ranks = [rank for rank in _ranks(connection, other) if rank in ranks]
    second = stretches(connection, other, other_ranks, step if other_step is None else other_step)
    return [
        *stretches(connection, run_id, ranks, step),
        *(replace(stretch, side=1) for stretch in second),
    ]


def _of_step(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    ranks: Sequence[int],
    step: int,
    is_asked: bool,
) -> list[Stretch]:
    """The step of each rank that has it, or that was asked for."""
    rows = connection.execute(
        "SELECT rank, count(DISTINCT source_id), min(start_ns), max(work_end_ns) "
        "FROM step_metrics WHERE run_id = $1 AND step = $2 GROUP BY rank ORDER BY rank",
        [run_id, step],
    ).fetchall()
    steps = {rank: times for rank, *times in rows if rank in ranks}
    for rank in ranks:
        if rank not in steps and (is_asked or not steps):
            known = _known_steps(connection, run_id, rank)
            raise MissingError(f"{run_id}: rank {rank} has no step {step}; {known}")
    for rank, (files, *_) in steps.items():
        if files > 1:
            raise MissingError(
                f"{run_id}: {files} files of rank {rank} have a step {step}: give a time instead"
            )
    anchor = min(start for _, start, _ in steps.values())
    return [
        Stretch(run_id, rank, start, end, anchor, step=step)
        for rank, (_, start, end) in steps.items()
    ]


def first_event(connection: duckdb.DuckDBPyConnection, run_id: str) -> int | None:
    """When the first event of a run began, Unix ns; None where it has no trace."""
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

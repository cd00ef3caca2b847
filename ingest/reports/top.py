"""What `ingest top` and page Operators say: rankings of operators and kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import duckdb

from ingest.names import NO_CATEGORY
from ingest.reports.query import Query, Scalar, Value, select
from ingest.reports.section import Section
from ingest.sql import literal

LEVELS = {
    "op": "outermost operator around the launch",
    "leaf": "innermost operator around the launch",
    "kernel": "name of the kernel",
}
Steps = tuple[Scalar, Scalar]  # the first and the last
WHOLE: Steps = (None, None)  # the whole recording


def rankings(connection: duckdb.DuckDBPyConnection, run_id: str, level: str) -> list[Section]:
    """Return a ranking for each device of a run and, if there are several, one over all devices.

    A rank without device activity has a section without rows. A run without any is ranked by host
    self time. A run without operators has its events by category instead. `level` is one of
    `LEVELS`.
    """
    of_run: dict[str, Value] = {"run_id": run_id}
    devices = select("device_id, rank, device", "ranking_walls", of_run, order_by="rank, device")
    sections = [
        replace(
            on_device(run_id, {"device_id": row["device_id"]}, level),
            of=(run_id, f"rank {row['rank']}", f"device {row['device']}"),
            totals=_walls({**of_run, "device_id": row["device_id"]}),
        )
        for row in devices.rows(connection)
    ]
    if not sections:
        return _of_run_on_host(connection, run_id) or [_categories(run_id)]
    number = len(sections)
    for row in _idle_ranks(run_id).rows(connection):
        rank = f"rank {row['rank']}"
        idle = on_device(run_id, {"rank": row["rank"]}, level)
        absent = f"{rank} has no device activity"
        sections.append(replace(idle, of=(run_id, rank), absent=absent))
    if number > 1:
        of = (run_id, f"all {number} devices, sum of their times")
        sections.append(replace(over_all([run_id], level), of=of, totals=_walls(of_run)))
    return sections


def on_device(
    run_id: str | None,
    device: Mapping[str, Scalar],
    level: str,
    steps: Steps = WHOLE,
    *,
    search: str = "",
) -> Section:
    """Return the ranking of a device by device time.

    `device` has the conditions for rows of the device. `search` is a text that names must contain.
    """
    return Section(
        f"By {LEVELS[level].partition(' around')[0]}",
        "ranking",
        select(
            "name, percent, device_ns, calls",
            "ranking_of_steps",
            {**device, "level": level},
            arguments=(run_id, *steps),
            containing=("name", search),
            order_by="device_ns DESC, name",
        ),
        labels={"name": "kernel" if level == "kernel" else "operator"},
    )


def over_all(runs: Sequence[str], level: str, *, search: str = "") -> Section:
    """Return the ranking of runs by device time, summed over the devices of each run."""
    return Section(
        "Device time, side by side" if len(runs) > 1 else "Device time of all devices",
        "ranking_over_all",
        select(
            "run_id, name, device_ns, calls, percent",
            "ranking_over_all",
            {"run_id": runs, "level": level},
            containing=("name", search),
            order_by="device_ns DESC, name",
        ),
    )


def on_host(
    runs: Sequence[str], rank: int | None = None, steps: Steps = WHOLE, *, search: str = ""
) -> Section:
    """Return the ranking of operators by self time on the host.

    `rank` selects a rank; None selects all. Steps apply to all of the runs.
    """
    where: dict[str, Value] = {"run_id": runs} if rank is None else {"run_id": runs, "rank": rank}
    return Section(
        "By operator",
        "host_op_ranking",
        select(
            "name, percent, self_ns, total_ns, calls, run_id, rank",
            "host_ranking_of_steps",
            where,
            arguments=(runs[0] if len(runs) == 1 else None, *steps),
            containing=("name", search),
            order_by="self_ns DESC, name",
        ),
    )


def _walls(where: Mapping[str, Value]) -> Query:
    """Return the query for the wall, busy and idle time of devices in the whole recording."""
    names = ("wall_ns", "busy_ns", "idle_ns")
    return select(", ".join(f"sum({name}) AS {name}" for name in names), "ranking_walls", where)


def _of_run_on_host(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[Section]:
    """Return a ranking by host self time for each rank with operators."""
    ranks = select("DISTINCT rank", "host_op_ranking", {"run_id": run_id}, order_by="rank")
    return [
        replace(
            on_host([run_id], rank),
            of=(run_id, f"rank {rank}", "host"),
            totals=select(
                "sum(self_ns) AS self_ns", "host_op_ranking", {"run_id": run_id, "rank": rank}
            ),
            note=f"{run_id} has no device activity: ranked by host self time",
        )
        for rank in (row["rank"] for row in ranks.rows(connection))
    ]


def _categories(run_id: str) -> Section:
    """Return what a run without operators and device activities has instead."""
    return Section(
        "Events by category",
        "events",
        select(
            f"coalesce(category, {literal(NO_CATEGORY)}) AS category, count(*) AS events",
            "events",
            {"run_id": run_id},
            group_by="ALL",
            order_by="events DESC, category",
        ),
        of=(run_id,),
        note=f"{run_id} has no operators and no device activities",
    )


def _idle_ranks(run_id: str) -> Query:
    """Return the query for the ranks without device activity."""
    return Query(
        "SELECT DISTINCT rank FROM sources WHERE run_id = $1 "
        "AND rank NOT IN (SELECT rank FROM device_totals WHERE run_id = $1) ORDER BY rank",
        (run_id,),
    )

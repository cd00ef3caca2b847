"""What `ingest top` and page Operators say: rankings of operators and kernels."""

from collections.abc import Mapping, Sequence

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
TIMES = "wall_ns, busy_ns, idle_ns"
Steps = tuple[Scalar, Scalar]  # the first and the last


def rankings(connection: duckdb.DuckDBPyConnection, run_id: str, level: str) -> list[Section]:
    """Return a ranking for each device of a run and, if there are several, one over all devices.

    A rank without device activity has a section without rows. A run without any is ranked by host
    self time. A run without operators has its events by category instead. `level` is one of
    `LEVELS`.
    """
    devices = select(
        "device_id, rank, device",
        "ranking_walls",
        {"run_id": run_id},
        order_by="rank, device",
    ).rows(connection)
    if not devices:
        return _of_run_on_host(connection, run_id) or [_categories(run_id)]
    sections = [
        on_device(
            run_id,
            {"device_id": row["device_id"]},
            level,
            of=(run_id, f"rank {row['rank']}", f"device {row['device']}"),
        )
        for row in devices
    ]
    for row in _idle_ranks(run_id).rows(connection):
        rank = f"rank {row['rank']}"
        absent = f"{rank} has no device activity"
        sections.append(
            on_device(run_id, {"rank": row["rank"]}, level, of=(run_id, rank), absent=absent)
        )
    if len(devices) > 1:
        of = (run_id, f"all {len(devices)} devices, sum of their times")
        sections.append(over_all([run_id], level, of=of))
    return sections


def on_device(
    run_id: str | None,
    device: Mapping[str, Scalar],
    level: str,
    steps: Steps = (None, None),
    *,
    search: str = "",
    of: tuple[str, ...] = (),
    absent: str = "",
) -> Section:
    """Return the ranking of a device by device time; the totals are of the whole recording.

    `device` has the conditions for rows of the device. Steps without bounds are the whole
    recording. `search` is a text that names must contain.
    """
    columns, where = "name, percent, device_ns, calls", {**device, "level": level}
    named, order = ("name", search), "device_ns DESC, name"
    if steps == (None, None):
        where = {"run_id": run_id, **where}
        query = select(columns, "ranking", where, containing=named, order_by=order)
    else:
        query = select(
            columns,
            "ranking_of_steps",
            where,
            arguments=(run_id, *steps),
            containing=named,
            order_by=order,
        )
    return Section(
        f"By {LEVELS[level].partition(' around')[0]}",
        "ranking",
        query,
        of=of,
        totals=select(TIMES, "ranking_walls", {"run_id": run_id, **device}),
        absent=absent,
        labels={"name": "kernel" if level == "kernel" else "operator"},
    )


def over_all(
    runs: Sequence[str], level: str, *, search: str = "", of: tuple[str, ...] = ()
) -> Section:
    """Return the ranking of runs by device time, summed over their devices."""
    sums = "sum(wall_ns) AS wall_ns, sum(busy_ns) AS busy_ns, sum(idle_ns) AS idle_ns"
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
        of=of,
        totals=select(sums, "ranking_walls", {"run_id": runs}),
    )


def on_host(
    runs: Sequence[str],
    rank: int | None = None,
    steps: Steps = (None, None),
    *,
    search: str = "",
    of: tuple[str, ...] = (),
    note: str = "",
) -> Section:
    """Return the ranking of operators by self time on the host: of runs, or of steps of one run.

    `rank` selects a rank; None selects all. The totals are of the whole recording.
    """
    columns = "name, percent, self_ns, total_ns, calls, run_id, rank"
    named, order = ("name", search), "self_ns DESC, name"
    of_rank: dict[str, Value] = {} if rank is None else {"rank": rank}
    if steps == (None, None):
        where = {"run_id": runs, **of_rank}
        query = select(columns, "host_op_ranking", where, containing=named, order_by=order)
    else:
        query = select(
            columns,
            "host_ranking_of_steps",
            of_rank,
            arguments=(runs[0], *steps),
            containing=named,
            order_by=order,
        )
    return Section(
        "By operator",
        "host_op_ranking",
        query,
        of=of,
        totals=select("sum(self_ns) AS self_ns", "host_op_ranking", {"run_id": runs, **of_rank}),
        note=note,
    )


def _of_run_on_host(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[Section]:
    """Return a ranking by host self time for each rank with operators."""
    ranks = select("DISTINCT rank", "host_op_ranking", {"run_id": run_id}, order_by="rank")
    note = f"{run_id} has no device activity: ranked by host self time"
    return [
        on_host([run_id], row["rank"], of=(run_id, f"rank {row['rank']}", "host"), note=note)
        for row in ranks.rows(connection)
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
        labels={"events": "events"},
    )


def _idle_ranks(run_id: str) -> Query:
    """Return the query for the ranks without device activity."""
    return Query(
        "SELECT DISTINCT rank FROM sources WHERE run_id = $1 "
        "AND rank NOT IN (SELECT rank FROM device_totals WHERE run_id = $1) ORDER BY rank",
        (run_id,),
    )

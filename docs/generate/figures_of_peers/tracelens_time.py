"""Compares TraceLens' sheets of device time with tracehouse."""

from collections.abc import Iterator, Set
from typing import Any

from docs.generate.figures_of_peers.figures import Comparison, Trace

ORPHANS = "drops activities without a launch"
SETS = "counts memory sets as computation"
NCCL = "knows communication by `nccl` in the name only"
STEP = 0.25e-3  # µs: the resolution of doubles for times of this size, in TraceLens

# The device's activities by TraceLens' rules.
STRETCHES = """WITH activities AS (
    SELECT start_ns, start_ns + dur_ns AS end_ns,
        CASE WHEN kind = 'memset' THEN if({sets}, 'compute', kind)
            WHEN class = 'communication' AND {nccl} AND NOT contains(lower(name), 'nccl')
                THEN 'compute'
            ELSE class
        END AS class
    FROM kernels WHERE run_id = '{run}' AND ({orphans} OR launch_id IS NOT NULL)
),
edges AS (
    SELECT class, unnest([start_ns, end_ns]) AS time_ns, unnest([1, -1]) AS change FROM activities
),
stretches AS (
    SELECT lead(time_ns) OVER so_far - time_ns AS ns, sum(sum(change)) OVER so_far > 0 AS busy,
        coalesce(sum(sum(change) FILTER (class = 'compute')) OVER so_far, 0) > 0 AS compute,
        coalesce(sum(sum(change) FILTER (class = 'communication')) OVER so_far, 0) > 0 AS comm,
        sum(sum(change) FILTER (class = 'copy')) OVER so_far > 0 AS memcpy
    FROM edges GROUP BY time_ns WINDOW so_far AS (ORDER BY time_ns)
),
times AS (
    SELECT sum(ns) FILTER (compute) AS computation_time,
        sum(ns) FILTER (comm AND NOT compute) AS exposed_comm_time,
        sum(ns) FILTER (busy AND NOT compute AND NOT comm) AS exposed_memcpy_time,
        sum(ns) FILTER (busy) AS busy_time, sum(ns) FILTER (NOT busy) AS idle_time,
        sum(ns) FILTER (NOT busy AND ns < 10000) AS micro_idle_time,
        sum(ns) FILTER (NOT busy AND ns >= 10000) AS macro_idle_time, sum(ns) AS total_time,
        sum(ns) FILTER (comm) AS total_comm_time, sum(ns) FILTER (memcpy) AS total_memcpy_time
    FROM stretches
)"""
TIMES = """WITH gaps AS (
    SELECT run_id, sum(dur_ns) FILTER (dur_ns < 10000) AS micro_idle_time,
        sum(dur_ns) FILTER (dur_ns >= 10000) AS macro_idle_time
    FROM bubbles WHERE NOT is_edge GROUP BY run_id
),
times AS (
    SELECT compute_ns AS computation_time, exposed_communication_ns AS exposed_comm_time,
        exposed_copy_ns AS exposed_memcpy_time, busy_ns AS busy_time, idle_ns AS idle_time,
        micro_idle_time, macro_idle_time, span_ns AS total_time,
        communication_ns AS total_comm_time, memcpy_ns AS total_memcpy_time
    FROM device_time INNER JOIN gaps USING (run_id) WHERE run_id = '{run}'
)"""
OF_TYPE = """ SELECT type, ns / 1e6 AS "time ms",
    100 * ns / max(ns) FILTER (type = 'total_time') OVER () AS percent
FROM (UNPIVOT times ON * INTO NAME type VALUE ns)"""

COLLECTIVES = """SELECT args ->> 'Collective name' AS "Collective name", dtype,
    sum(kernels.dur_ns) / 1e3 AS dur_sum, avg(kernels.dur_ns) / 1e3 AS dur_mean,
    min(kernels.dur_ns) / 1e3 AS dur_min, max(kernels.dur_ns) / 1e3 AS dur_max,
    count(*) AS operation_count, any_value((args ->> 'Group size')::INT) AS "Group size",
    any_value((args ->> 'In msg nelems')::BIGINT) AS "In msg nelems",
    any_value((args ->> 'Out msg nelems')::BIGINT) AS "Out msg nelems"
FROM kernels INNER JOIN (SELECT *, args ->> 'dtype' AS dtype FROM events)
    USING (run_id, rank, event_id)
WHERE run_id = '{run}' AND args ->> 'Collective name' IS NOT NULL GROUP BY ALL"""


def comparisons(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare device time by kind of activity, and collectives."""
    activities = trace.figures_of(
        f"""SELECT count(*) AS gpu_events_total, count(launch_id) AS gpu_events_linked_in_tree
        FROM kernels WHERE run_id = '{trace.run}'"""
    )
    yield Comparison(
        "gpu events", trace.name, {key: output[key[0]] for key in activities}, activities
    )

    def times(chosen: Set[str]) -> str:
        switches = {
            "sets": SETS in chosen,
            "nccl": NCCL in chosen,
            "orphans": ORPHANS not in chosen,
        }
        return STRETCHES.format(run=trace.run, **switches) + OF_TYPE

    by_rule = trace.by_rules((SETS, NCCL, ORPHANS), times)
    for sheet, options in (
        ("gpu_timeline", ""),
        ("gpu_timeline_include_unlinked", "include_unlinked_kernels"),
        ("gpu_timeline_micro10us", "micro_idle_thresh_us 10"),
    ):
        yield trace.compared(
            f"gpu_timeline --{options}" if options else "gpu_timeline",
            output[sheet],
            TIMES.format(run=trace.run) + OF_TYPE,
            by_rule,
            keys=("type",),
            whole=False,
            slack=STEP / 1e3 * activities["gpu_events_total",],
        )
    yield trace.compared(
        "coll_analysis",
        output.get("coll_analysis", []),
        COLLECTIVES.format(run=trace.run),
        {},
        keys=("Collective name", "dtype"),
    )

"""Compares HTA 0.6.1's analyses of device time with tracehouse."""

from collections.abc import Iterator, Set
from typing import Any

from docs.generate.figures_of_peers.figures import PLAIN, Comparison, Figures, Trace

ORPHANS = "drops activities without a launch"
SYNCS = "counts synchronizations as activities"
SUMS = "takes its statistics of sums, where it has a rest"
GAPS = "counts gaps of zero or negative length"

# The device's activities by HTA's rules.
ACTIVITIES = """activities AS (
    SELECT name, if(class = 'copy', 'memory', class) AS class, stream, event_id, start_ns,
        start_ns + dur_ns AS end_ns, dur_ns, launch_ns
    FROM kernels WHERE run_id = '{run}' AND ({orphans} OR launch_id IS NOT NULL)
    UNION ALL BY NAME
    SELECT name, 'wait' AS class, start_ns, start_ns + dur_ns AS end_ns, dur_ns
    FROM events WHERE run_id = '{run}' AND category = 'cuda_sync' AND {syncs}
),
edges AS (
    SELECT class, unnest([start_ns, end_ns]) AS time_ns, unnest([1, -1]) AS change FROM activities
),
stretches AS (
    SELECT lead(time_ns) OVER so_far - time_ns AS ns, sum(sum(change)) OVER so_far > 0 AS busy,
        coalesce(sum(sum(change) FILTER (class = 'compute')) OVER so_far, 0) > 0 AS compute,
        sum(sum(change) FILTER (class = 'communication')) OVER so_far > 0 AS communication,
        sum(sum(change) FILTER (class = 'memory')) OVER so_far > 0 AS memory
    FROM edges GROUP BY time_ns WINDOW so_far AS (ORDER BY time_ns)
)"""
PARTS = """SELECT sum(ns) FILTER ({idle}) / 1e3 AS "idle_time(us)",
    sum(ns) FILTER ({compute}) / 1e3 AS "compute_time(us)",
    sum(ns) FILTER (NOT ({idle} OR {compute})) / 1e3 AS "non_compute_time(us)",
    sum(ns) / 1e3 AS "kernel_time(us)",
    100 * "idle_time(us)" / "kernel_time(us)" AS idle_time_pctg,
    100 * "compute_time(us)" / "kernel_time(us)" AS compute_time_pctg,
    100 * "non_compute_time(us)" / "kernel_time(us)" AS non_compute_time_pctg"""
TYPES = """SELECT concat_ws(' overlapping ', if({}, 'COMPUTATION', NULL),
    if({}, 'COMMUNICATION', NULL), if({}, 'MEMORY', NULL)) AS kernel_type,"""
OF_NAME = """SELECT name, sum(dur_ns) / 1e3 AS "sum (us)", max(dur_ns) / 1e3 AS "max (us)",
    min(dur_ns) / 1e3 AS "min (us)", avg(dur_ns) / 1e3 AS "mean (us)",
    stddev_samp(dur_ns) / 1e3 AS stddev FROM activities GROUP BY name"""
OF_SUM = """SELECT name, sum(dur_ns) / 1e3 AS "sum (us)", "sum (us)" AS "max (us)",
    "sum (us)" AS "min (us)", "sum (us)" AS "mean (us)", 0 AS stddev
    FROM activities GROUP BY name"""
IDLE = """, gaps AS (
    SELECT stream::VARCHAR AS stream, launch_ns, {before}(end_ns) OVER in_stream AS since_ns,
        start_ns - since_ns AS ns
    FROM activities WINDOW in_stream AS (PARTITION BY stream ORDER BY start_ns, event_id {rows})
),
causes AS (
    SELECT *, CASE WHEN launch_ns IS NULL THEN 'unknown' WHEN launch_ns > since_ns THEN 'host_wait'
        WHEN ns < 30000 THEN 'kernel_wait' ELSE 'other' END AS idle_category
    FROM gaps WHERE {counts}
)
SELECT stream, idle_category, sum(ns) / 1e3 AS idle_time, count(*) AS count, avg(ns) / 1e3 AS mean,
    sum(ns) / sum(sum(ns)) OVER (PARTITION BY stream) AS idle_time_ratio,
    stddev_samp(ns) / 1e3 AS std, min(ns) / 1e3 AS min, median(ns) / 1e3 AS "50%",
    max(ns) / 1e3 AS max
FROM causes GROUP BY stream, idle_category"""
GAPS_OF_HTA = IDLE.format(before="lag", rows="", counts="ns IS NOT NULL")
GAPS_OF_OURS = IDLE.format(
    before="max", rows="ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING", counts="ns > 0"
)


def comparisons(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare the analyses of device time of a complete trace."""

    def by_rule(select: str, *rules: str) -> dict[str, Figures]:
        return trace.by_rules(rules, lambda chosen: _seen(trace, select, chosen))

    yield trace.compared(
        "get_temporal_breakdown",
        output["temporal_breakdown"],
        PARTS.format(idle="kind = 'idle'", compute="kind = 'compute'")
        + f" FROM temporal_breakdown() WHERE run_id = '{trace.run}'",
        by_rule(
            PARTS.format(idle="NOT busy", compute="compute") + " FROM stretches", ORPHANS, SYNCS
        ),
        slack=0.00501,
    )
    yield trace.compared(
        "get_comm_comp_overlap",
        output["comm_comp_overlap"],
        "SELECT any_value(percent) AS comp_comm_overlap_pctg FROM communication_overlap()"
        f" WHERE run_id = '{trace.run}'",
        by_rule(
            "SELECT 100 * sum(ns) FILTER (compute) / sum(ns) AS comp_comm_overlap_pctg"
            " FROM stretches WHERE communication",
            ORPHANS,
        ),
        slack=0.00501,
    )
    classes = [f"list_contains(classes, '{name}')" for name in ("compute", "communication")]
    yield trace.compared(
        "get_gpu_kernel_breakdown, types",
        output["gpu_kernel_breakdown_n10"]["kernel_type"],
        TYPES.format(*classes, "list_has_any(classes, ['memcpy', 'memset'])")
        + " sum(dur_ns) / 1e3 AS sum, sum(percent) AS percentage"
        f" FROM class_overlap() WHERE run_id = '{trace.run}' GROUP BY kernel_type",
        by_rule(
            TYPES.format("compute", "communication", "memory")
            + " sum(ns) / 1e3 AS sum, 100 * sum(ns) / sum(sum(ns)) OVER () AS percentage"
            " FROM stretches WHERE busy GROUP BY kernel_type",
            ORPHANS,
        ),
        keys=("kernel_type",),
        slack=0.0501,
    )
    yield from _kernels(trace, output)
    yield trace.compared(
        "get_idle_time_breakdown",
        _idle_rows(output["idle_time_breakdown_delay30us"]),
        f"""SELECT stream::VARCHAR AS stream, cause AS idle_category, idle_ns / 1e3 AS idle_time,
            percent / 100 AS idle_time_ratio, gaps AS count, mean_ns / 1e3 AS mean,
            stddev_ns / 1e3 AS std, min_ns / 1e3 AS min, median_ns / 1e3 AS "50%",
            max_ns / 1e3 AS max
        FROM stream_idle() WHERE run_id = '{trace.run}'""",
        by_rule(GAPS_OF_OURS, ORPHANS)
        | {
            GAPS: trace.figures_of(_seen(trace, GAPS_OF_HTA)),
            f"{ORPHANS}, {GAPS}": trace.figures_of(_seen(trace, GAPS_OF_HTA, {ORPHANS})),
        },
        keys=("stream", "idle_category"),
        slack=0.00501,
    )


def _seen(trace: Trace, select: str, rules: Set[str] = frozenset()) -> str:
    """Return a query of the activities by these rules of HTA."""
    switches = {"orphans": ORPHANS not in rules, "syncs": SYNCS in rules}
    return f"WITH {ACTIVITIES.format(run=trace.run, **switches)} {select}"


def _kernels(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare kernels by name: HTA's 25 longest, and its 10 longest per type with `others`."""
    query = f"""SELECT name, total_ns / 1e3 AS "sum (us)", max_ns / 1e3 AS "max (us)",
        min_ns / 1e3 AS "min (us)", mean_ns / 1e3 AS "mean (us)", stddev_ns / 1e3 AS stddev
    FROM kernel_statistics() WHERE run_id = '{trace.run}'"""
    of_name = {
        PLAIN: trace.figures_of(_seen(trace, OF_NAME)),
        ORPHANS: trace.figures_of(_seen(trace, OF_NAME, {ORPHANS})),
    }
    of_sum = {
        SUMS: trace.figures_of(_seen(trace, OF_SUM)),
        f"{ORPHANS}, {SUMS}": trace.figures_of(_seen(trace, OF_SUM, {ORPHANS})),
    }
    top = [row for row in output["gpu_kernel_breakdown_n10"]["top10"] if row["name"] != "others"]
    for analysis, rows, rules in (
        ("get_gpu_kernel_breakdown, kernels", top, of_name | of_sum),
        (
            "get_gpu_kernel_breakdown, 25 kernels without a rest",
            output["gpu_kernel_top25_unaggregated"],
            of_name,
        ),
    ):
        yield trace.compared(analysis, rows, query, rules, keys=("name",), whole=False)


def _idle_rows(idle: dict[str, Any]) -> list[dict[str, Any]]:
    """Join HTA's two tables of each stream and category: sums and statistics."""
    statistics = {(row["stream"], row["idle_category"]): row for row in idle["interval_stats"]}
    return [row | statistics[row["stream"], row["idle_category"]] for row in idle["breakdown"]]

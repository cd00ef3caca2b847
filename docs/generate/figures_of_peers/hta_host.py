"""Compares HTA 0.6.1's analyses of launches, queues and copies with tracehouse."""

from collections.abc import Iterator
from typing import Any

from docs.generate.figures_of_peers.figures import PLAIN, Comparison, Figures, Trace
from docs.generate.figures_of_peers.hta_device import ORPHANS

GRAPHS = "does not count launches of graphs"
LONG = "calls no kernel of a launch above the cutoff short"
CHANGES = "averages over changes, not over time"
REMAINDERS = "counts remainders of its sums as bandwidth"
NOTHING = 1e-9  # GB/s, less than the bandwidth of any copy

# The API calls that HTA counts as launches.
KNOWN = "('cudaLaunchKernel', 'cudaLaunchKernelExC', 'cudaMemcpyAsync', 'cudaMemsetAsync')"
ROWS = """SELECT if(kind = 'kernel', kind, 'gpu_' || kind) AS category, count(*) AS n
FROM kernels WHERE run_id = '{run}' AND (launch_id IS NOT NULL OR {orphans}) GROUP BY kind
UNION ALL SELECT category, count(*) AS n FROM events
WHERE run_id = '{run}' AND category = 'cuda_sync' GROUP BY category"""
DESCRIBED = """SELECT '{name}' AS of, count({value}) AS count, avg({value}) AS mean,
    stddev_samp({value}) AS std, min({value}) AS min, quantile_cont({value}, 0.5) AS "50%",
    quantile_cont({value}, 0.9) AS "90%", quantile_cont({value}, 0.99) AS "99%",
    max({value}) AS max, sum({value}) AS sum
FROM launch_calls WHERE run_id = '{run}' AND (api IN {known} OR {graphs})"""
OUTLIERS = """SELECT count(*) AS n,
    count(*) FILTER (device_ns < dur_ns AND {short}) AS short_kernels,
    count(*) FILTER (dur_ns > 50000) AS runtime_outliers_gt50us,
    count(*) FILTER (delay_ns > 100000) AS launch_delay_outliers_gt100us,
    count(*) FILTER (delay_ns = 0) AS zero_delay
FROM launch_calls WHERE run_id = '{run}' AND (api IN {known} OR {graphs})"""
OF_STEPS = """SELECT sum(launches) AS n, sum(long_calls) AS runtime_outliers_gt50us,
    sum(long_delays) AS launch_delay_outliers_gt100us, sum(prompt_launches) AS zero_delay
FROM launch_statistics('{run}', 0, (SELECT max(step) - 1 FROM steps WHERE run_id = '{run}'))
WHERE api IN {known} OR {graphs}"""
# The mean over time, or bounds of the mean over changes. The bounds are needed because changes at
# the same time have no order.
QUEUES = """WITH launches AS (
    SELECT stream::VARCHAR AS stream, launch_id, min(launch_ns) AS launch_ns,
        min(kernels.start_ns) AS start_ns
    FROM kernels INNER JOIN launch_calls USING (run_id, rank, device, launch_id)
    WHERE run_id = '{run}' AND (api IN {known} OR {graphs}) GROUP BY stream, launch_id
),
changes AS (
    SELECT stream, launch_id, unnest([launch_ns, start_ns]) AS time_ns, unnest([1, -1]) AS change
    FROM launches
),
lengths AS (
    SELECT stream, lead(time_ns) OVER least_first - time_ns AS ns,
        sum(change) OVER (least_first ROWS UNBOUNDED PRECEDING) AS least,
        sum(change) OVER (PARTITION BY stream ORDER BY time_ns, change DESC, launch_id
            ROWS UNBOUNDED PRECEDING) AS most
    FROM changes
    WINDOW least_first AS (PARTITION BY stream ORDER BY time_ns, change, launch_id)
)
SELECT stream, count(*) AS "queue_length|count", max(least) AS "queue_length|max",
    if({changes}, [avg(least), avg(most)], [sum(least * ns) / sum(ns), sum(least * ns) / sum(ns)])
        AS "queue_length|mean"
FROM lengths GROUP BY stream"""
COPIES = """SELECT copy AS name, count(*) AS "memory_bw_gbps|count",
    avg(gb_per_s) AS "memory_bw_gbps|mean", stddev_samp(gb_per_s) AS "memory_bw_gbps|std",
    min(gb_per_s) AS "memory_bw_gbps|min", quantile_cont(gb_per_s, 0.25) AS "memory_bw_gbps|25%",
    median(gb_per_s) AS "memory_bw_gbps|50%",
    quantile_cont(gb_per_s, 0.75) AS "memory_bw_gbps|75%", max(gb_per_s) AS "memory_bw_gbps|max"
FROM {source} WHERE gb_per_s > 0 GROUP BY copy"""
BANDWIDTHS = """WITH edges AS (
    SELECT copy, unnest([start_ns, end_ns]) AS time_ns, unnest([rate, -rate]) AS change,
        unnest([1, -1]) AS copies
    FROM (
        SELECT trim(split_part(kernels.name, '(', 1)) AS copy, kernels.start_ns,
            kernels.start_ns + kernels.dur_ns AS end_ns,
            (args ->> '$."memory bandwidth (GB/s)"')::DOUBLE AS rate
        FROM kernels INNER JOIN events USING (run_id, rank, event_id)
        WHERE run_id = '{run}' AND class = 'copy' AND (launch_id IS NOT NULL OR {orphans})
    )
),
rates AS (
    SELECT copy, if(sum(copies) OVER so_far > 0, sum(change) OVER so_far, 0) AS gb_per_s
    FROM edges
    WINDOW so_far AS (PARTITION BY copy ORDER BY time_ns, copies ROWS UNBOUNDED PRECEDING)
) """


def comparisons(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare the recorded rows and steps, launches, queue lengths and copies of a trace."""

    def queues(chosen: frozenset[str]) -> str:
        return QUEUES.format(
            run=trace.run, known=KNOWN, graphs=GRAPHS not in chosen, changes=CHANGES in chosen
        )

    def rows(chosen: frozenset[str]) -> str:
        return ROWS.format(run=trace.run, orphans=ORPHANS not in chosen)

    def bandwidths(chosen: frozenset[str]) -> str:
        series = BANDWIDTHS.format(run=trace.run, orphans=ORPHANS not in chosen)
        return series + COPIES.format(source="rates")

    yield trace.compared(
        "rows of the device",
        [{"category": name, "n": n} for name, n in output["stream_ne_-1_by_cat"].items()],
        rows(frozenset()),
        trace.by_rules((ORPHANS,), rows),
        keys=("category",),
    )
    yield trace.compared(
        "get_profiler_steps",
        [{"step": str(int(step)), "n": 1} for step in output["iterations"]],
        f"""SELECT step::VARCHAR AS step, 1 AS n FROM steps
        WHERE run_id = '{trace.run}' AND steps_from = 'ProfilerStep'""",
        {},
        keys=("step",),
    )
    yield from _launches(trace, output["cuda_kernel_launch_stats"])
    yield trace.compared(
        "get_queue_length_summary",
        output["queue_length_summary"],
        f"""SELECT stream::VARCHAR AS stream, 2 * launches AS "queue_length|count",
            max_length AS "queue_length|max", mean_length AS "queue_length|mean"
        FROM queue_statistics() WHERE run_id = '{trace.run}'""",
        trace.by_rules((GRAPHS, CHANGES), queues),
        keys=("stream",),
    )
    copies = output["memory_bw_summary"]
    yield trace.compared(
        "get_memory_bw_summary",
        copies,
        COPIES.format(source=f"(FROM copy_bandwidth WHERE run_id = '{trace.run}')"),
        trace.by_rules((ORPHANS,), bandwidths) | {REMAINDERS: _remainders(copies)},
        keys=("name",),
        slack=NOTHING,
    )


def without_last_step(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare the launches of all steps except the last, which HTA omits by default."""
    if not output["iterations"]:
        return

    def query(chosen: frozenset[str]) -> str:
        return OF_STEPS.format(run=trace.run, graphs=GRAPHS not in chosen, known=KNOWN)

    yield trace.compared(
        "get_cuda_kernel_launch_stats, without the last step",
        [output["cuda_kernel_launch_stats"]],
        query(frozenset()),
        trace.by_rules((GRAPHS,), query),
    )


def exact(trace: Trace, output: dict[str, Any]) -> Comparison:
    """Compare device times exactly, with values that plain Python reads from the file."""
    return trace.compared(
        "time of the device, from the file",
        [output],
        f"""SELECT activities AS gpu_events, span_ns, busy_ns, idle_ns,
            compute_ns AS noncomm_kernel_union_ns, communication_ns AS comm_union_ns,
            communication_ns - exposed_communication_ns AS overlap_ns,
            (SELECT sum(dur_ns) FROM kernels WHERE run_id = '{trace.run}') AS sum_dur_ns
        FROM device_time WHERE run_id = '{trace.run}'""",
        {},
    )


def _launches(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    values = {
        "cpu_duration": "dur_ns / 1e3",
        "gpu_duration": "device_ns / 1e3",
        "launch_delay": "delay_ns / 1e3",
    }
    queries = {
        graphs: " UNION ALL ".join(
            DESCRIBED.format(run=trace.run, known=KNOWN, graphs=graphs, name=name, value=value)
            for name, value in values.items()
        )
        for graphs in (True, False)
    }
    described = [
        {"of": name, "sum": output["sum"][name]} | output["describe"][name] for name in values
    ]
    yield trace.compared(
        "get_cuda_kernel_launch_stats",
        described,
        queries[True],
        {PLAIN: trace.figures_of(queries[True]), GRAPHS: trace.figures_of(queries[False])},
        keys=("of",),
    )

    def outliers(chosen: frozenset[str]) -> str:
        short = "dur_ns <= 50000" if LONG in chosen else "TRUE"
        return OUTLIERS.format(run=trace.run, known=KNOWN, graphs=GRAPHS not in chosen, short=short)

    yield trace.compared(
        "get_cuda_kernel_launch_stats, outliers",
        [output],
        f"""SELECT sum(launches) AS n, sum(short_launches) AS short_kernels,
            sum(long_calls) AS runtime_outliers_gt50us,
            sum(long_delays) AS launch_delay_outliers_gt100us, sum(prompt_launches) AS zero_delay
        FROM launch_statistics() WHERE run_id = '{trace.run}'""",
        trace.by_rules((GRAPHS, LONG), outliers),
    )


def _remainders(rows: list[dict[str, Any]]) -> Figures:
    """Return the figures of copies whose minimum bandwidth is a remainder of HTA's sums."""
    return {
        (row["name"], name): value
        for row in rows
        if row["memory_bw_gbps|min"] < NOTHING
        for name, value in row.items()
    }

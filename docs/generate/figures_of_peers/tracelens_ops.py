"""Compares TraceLens' sheets of operators and kernels with tracehouse."""

from collections.abc import Iterator, Set
from typing import Any

from docs.generate.figures_of_peers.figures import Comparison, Trace, text_of
from docs.generate.figures_of_peers.tracelens_time import STEP

MERGED_TIME = "counts time in which kernels of a call overlap once"
APIS = "lists a launch without an operator by its API"
COLLECTIVES = "leaves out `record_param_comms`"
KERNELS_ONLY = "lists kernels, but no copies or memsets"
MODELS = "lists the outer operator, where that has a model"
BIAS = "counts the operations of the bias"
RESULT = "counts the elements of the result, not of the first input"
SYNTHETIC = "makes up an operator for a kernel"

# Bounds of a time in TraceLens' doubles: each activity adds an error.
ABOUT = "[{value} - {step} * {activities}, {value} + {step} * {activities}]"
OPS = """SELECT call.name, count(*) AS "Count", {direct} AS total_direct_kernel_time_ms,
    {subtree} AS total_subtree_kernel_time_ms
FROM op_calls AS call INNER JOIN ops USING (run_id, rank, event_id)
WHERE run_id = '{run}' AND level = 'leaf' GROUP BY call.name"""
# The same by TraceLens' rules: the time of a call is the union of its activities.
MERGED = """WITH RECURSIVE inside AS (
    SELECT kernels.event_id, kernels.start_ns, kernels.start_ns + kernels.dur_ns AS end_ns,
        coalesce(op_id, launch_id) AS owner_id, coalesce(op, call.name) AS name, TRUE AS is_direct
    FROM kernels LEFT JOIN events AS call
        ON kernels.run_id = call.run_id AND kernels.launch_id = call.event_id
    WHERE kernels.run_id = '{run}'
        AND (op IS NOT NULL OR {apis} AND launch_id IS NOT NULL)
        AND (op IS DISTINCT FROM 'record_param_comms' OR NOT {collectives})
    UNION ALL
    SELECT inside.event_id, inside.start_ns, inside.end_ns, outer_op.event_id, outer_op.name, FALSE
    FROM inside
    INNER JOIN ops AS op ON op.run_id = '{run}' AND inside.owner_id = op.event_id
    INNER JOIN ops AS outer_op ON outer_op.run_id = '{run}' AND op.parent_op_id = outer_op.event_id
),
spans AS (
    SELECT *, end_ns - start_ns AS ns,
        greatest(0, end_ns - greatest(start_ns, max(end_ns) OVER (
            PARTITION BY owner_id, is_direct ORDER BY start_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ))) AS direct_ns,
        greatest(0, end_ns - greatest(start_ns, max(end_ns) OVER (
            PARTITION BY owner_id ORDER BY start_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ))) AS subtree_ns
    FROM inside
),
calls AS (
    SELECT name, owner_id, bool_or(is_direct) AS launches, count(*) AS activities,
        sum(if({merged}, direct_ns, ns)) FILTER (is_direct) AS direct_ns,
        sum(if({merged}, subtree_ns, ns)) AS subtree_ns
    FROM spans GROUP BY name, owner_id
)
SELECT name, count(*) AS "Count", {direct} AS total_direct_kernel_time_ms,
    {subtree} AS total_subtree_kernel_time_ms
FROM calls WHERE launches GROUP BY name"""
KERNELS = """SELECT coalesce(op, if({apis}, call.name, NULL), 'null') AS "Parent cpu_op",
    kernels.name AS "Kernel name", stream::VARCHAR AS "Kernel stream",
    sum(kernels.dur_ns) / 1e3 AS "Kernel duration (µs)_sum",
    count(*) AS "Kernel duration (µs)_count",
    avg(kernels.dur_ns) / 1e3 AS "Kernel duration (µs)_mean",
    min(kernels.dur_ns) / 1e3 AS "Kernel duration (µs)_min",
    max(kernels.dur_ns) / 1e3 AS "Kernel duration (µs)_max"
FROM kernels LEFT JOIN events AS call
    ON kernels.run_id = call.run_id AND kernels.launch_id = call.event_id
WHERE kernels.run_id = '{run}' AND (kind = 'kernel' OR NOT {kernels})
GROUP BY 1, 2, 3"""
ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
UNIQUE_ARGS = """SELECT events.name, {arguments}, count(*) AS operation_count, {figures}
FROM {calls} AS call INNER JOIN events USING (run_id, event_id)
WHERE run_id = '{run}' GROUP BY ALL"""
LEAVES = "(FROM op_calls WHERE level = 'leaf')"
# The same as `op_calls`, computed from the kernels.
CALLS = """(
    SELECT run_id, owner_id AS event_id, sum(ns) AS device_ns, count(*) AS activities
    FROM (
        SELECT run_id, coalesce(op_id, if({apis}, launch_id, NULL)) AS owner_id,
            if({merged}, greatest(0, start_ns + dur_ns - greatest(start_ns, max(start_ns + dur_ns)
                OVER (PARTITION BY run_id, owner_id ORDER BY start_ns, event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))), dur_ns) AS ns
        FROM kernels
    ) WHERE owner_id IS NOT NULL GROUP BY run_id, owner_id
)"""
OPS_THAT_LAUNCH = "(SELECT run_id, event_id FROM ops WHERE {device} > 0)"
# Operations as torch counts them, or by TraceLens' rules.
FLOPS = """SELECT name, input_dims AS "Input Dims", any_value(flops / calls +
    CASE WHEN name = 'aten::addmm' AND {bias}
        THEN (input_dims ->> '$[1][0]')::BIGINT * (input_dims ->> '$[2][1]')::BIGINT
    WHEN name = 'aten::mul' AND {result} AND json_array_length(input_dims, '$[1]') > 0
        THEN list_product((input_dims -> '$[1]')::BIGINT[]) - flops / calls
    ELSE 0 END) / 1e9 AS "GFLOPS"
FROM call_tree
WHERE run_id = '{run}' AND category = 'cpu_op' AND flops > 0 AND repeated_calls = 0
    AND (name, input_dims) IN (SELECT (name, input_dims) FROM op_calls WHERE run_id = '{run}')
GROUP BY name, input_dims"""
STATISTICS = {"mean": "avg", "median": "median", "std": "stddev_samp", "min": "min", "max": "max"}


def comparisons(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare the sheets of operators and kernels of a trace."""

    def merged(chosen: Set[str]) -> str:
        return MERGED.format(
            run=trace.run,
            apis=APIS in chosen,
            collectives=COLLECTIVES in chosen,
            merged=MERGED_TIME in chosen,
            direct=_about("sum(direct_ns)", 1e6),
            subtree=_about("sum(subtree_ns)", 1e6),
        )

    yield trace.compared(
        "ops_summary",
        output["ops_summary"],
        OPS.format(
            run=trace.run,
            direct=_about("sum(call.device_ns)", 1e6),
            subtree=_about("sum(ops.device_ns)", 1e6),
        ),
        trace.by_rules((MERGED_TIME, APIS, COLLECTIVES), merged),
        keys=("name",),
    )

    def kernels(chosen: Set[str]) -> str:
        return KERNELS.format(run=trace.run, apis=APIS in chosen, kernels=KERNELS_ONLY in chosen)

    yield trace.compared(
        "kernel_summary",
        output["kernel_summary"],
        kernels(frozenset()),
        trace.by_rules((KERNELS_ONLY, APIS), kernels),
        keys=("Parent cpu_op", "Kernel name", "Kernel stream"),
    )
    yield from _unique_args(trace, output)


def _unique_args(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare operators with equal arguments: their device time and host time."""
    arguments = ", ".join(
        f"""coalesce(args ->> '$."{name}"', 'null') AS "{name}" """ for name in ARGUMENTS
    )
    direct = {"sum": _about("sum(device_ns)", 1e3)}
    direct |= {
        name: _about(f"{function}(device_ns)", 1e3, "max(activities)")
        for name, function in STATISTICS.items()
    }
    host = {"total_duration_us": "sum", "mean_duration_us": "avg", "std_duration_us": "stddev_samp"}
    host |= {f"duration_us_{name}": name for name in ("median", "min", "max")}
    on_device = ", ".join(
        f"{sql} AS total_direct_kernel_time_{name}" for name, sql in direct.items()
    )
    on_host = ", ".join(
        f"{function}(events.dur_ns) / 1e3 AS {name}" for name, function in host.items()
    )

    def query(calls: str, figures: str) -> str:
        return UNIQUE_ARGS.format(run=trace.run, arguments=arguments, calls=calls, figures=figures)

    rows = output["unified_perf_summary_top50"]
    made_up = {
        (row["name"], *(text_of(row[name]) for name in ARGUMENTS), figure): value
        for row in rows
        if row["name"].endswith("(Synthetic Op)")
        for figure, value in row.items()
    }

    def by_calls(chosen: Set[str]) -> str:
        calls = CALLS.format(apis=APIS in chosen, merged=MERGED_TIME in chosen)
        return query(calls, on_device)

    def by_model(chosen: Set[str]) -> str:
        device = "device_ns" if MODELS in chosen else "self_device_ns"
        return query(OPS_THAT_LAUNCH.format(device=device), on_host)

    for sheet, figures, by_rule in (
        ("ops_unique_args", on_device, trace.by_rules((MERGED_TIME, APIS), by_calls)),
        (
            "unified_perf_summary",
            on_host,
            trace.by_rules((MODELS,), by_model) | {SYNTHETIC: made_up},
        ),
    ):
        yield trace.compared(
            sheet,
            output[f"{sheet}_top50"],
            query(LEAVES, figures),
            by_rule,
            keys=("name", *ARGUMENTS),
            whole=False,
        )

    yield _flops(trace, rows)


def _flops(trace: Trace, rows: list[dict[str, Any]]) -> Comparison:
    """Compare the floating-point operations of calls for which torch counts them, too."""

    def query(chosen: Set[str]) -> str:
        return FLOPS.format(run=trace.run, bias=BIAS in chosen, result=RESULT in chosen)

    counted = trace.figures_of(query(frozenset()))
    listed = [row for row in rows if (row["name"], text_of(row["Input Dims"]), "GFLOPS") in counted]
    return trace.compared(
        "unified_perf_summary, GFLOPS that torch counts",
        listed,
        query(frozenset()),
        trace.by_rules((BIAS, RESULT), query),
        keys=("name", "Input Dims"),
        whole=False,
    )


def _about(value: str, unit: float, activities: str = "sum(activities)") -> str:
    return ABOUT.format(value=f"{value} / {unit:g}", step=STEP * 1e3 / unit, activities=activities)

"""What page Kernels says: kernels by their launch shape, and how well they fill the device."""

from collections.abc import Mapping, Sequence
from math import ceil
from numbers import Number
from typing import Any

from ingest.names import NO_OP
from ingest.reports.query import Query, Scalar, Value, select
from ingest.reports.section import Section
from ingest.sql import literal

Steps = tuple[Scalar, Scalar]  # the first and the last
SHAPE = ("grid", "block", "registers", "shared_bytes")
BARS = 4  # of a histogram, per power of ten, on a logarithmic axis
FIRST_BAR_NS = 100  # shorter durations count in the first bar of a logarithmic axis
MAX_BARS = 30  # on a linear axis
SPREAD = 20  # durations whose longest is this many times the shortest get a logarithmic axis
UNKNOWN = "(unknown)"
FILLS = {
    "less than 1 wave": "waves < 1",
    "1 to 2 waves": "waves BETWEEN 1 AND 2",
    "more than 2 waves": "waves > 2",
    UNKNOWN: "waves IS NULL",
}


def shapes(
    run_id: str | None, device: Mapping[str, Scalar], steps: Steps, *, search: str = ""
) -> Section:
    """Return the kernels of a device by launch shape, those with the most time first.

    `device` has the conditions for rows of the device. `search` is a text that names must contain.
    """
    return Section(
        "By kernel and launch shape",
        "kernel_shapes_of_steps",
        select(
            "* EXCLUDE (run_id, rank, device_id)",
            "kernel_shapes_of_steps",
            {**device},
            arguments=(run_id, *steps),
            containing=("kernel", search),
            order_by="device_ns DESC, kernel, grid, block, registers, shared_bytes",
        ),
        labels={
            "std_ns": "std",
            "occupancy_percent": "occupancy",
            "peak_percent": "% of peak",
            "bandwidth_percent": "% of bandwidth",
            "bound": "bound by",
            "saved_ns": "could save",
        },
    )


def totals(run_id: str | None, device: Mapping[str, Scalar], steps: Steps) -> Query:
    """Return the query for the sums over all kernels of a device: one row."""
    return select(
        "sum(calls)::BIGINT AS kernels, sum(device_ns)::BIGINT AS device_ns, "
        "sum(device_ns) / sum(calls) AS mean_ns, min(min_ns) AS min_ns, max(max_ns) AS max_ns, "
        "100 * coalesce(sum(device_ns) FILTER (WHERE is_on_matrix_cores), 0) / sum(device_ns) "
        "AS matrix_percent, "
        "100 * coalesce(sum(known_ns), 0) / sum(device_ns) AS known_percent, "
        "100 * sum(device_ns) FILTER (WHERE waves < 1) / sum(device_ns) AS part_percent, "
        "count(waves) > 0 AS has_waves",
        "kernel_shapes_of_steps",
        {**device},
        arguments=(run_id, *steps),
    )


def short(where: Mapping[str, Value]) -> Query:
    """Return the query for the share of kernels that took less time than their launch: one row."""
    return select(
        "100 * sum(short_kernels) / nullif(sum(kernels), 0) AS percent", "step_metrics", where
    )


def by_bound(run_id: str | None, device: Mapping[str, Scalar], steps: Steps) -> Section:
    """Return the time of a device's kernels by what bounds them."""
    return _grouped(
        "What bounds them", f"coalesce(bound, {literal(UNKNOWN)}) AS bound", run_id, device, steps
    )


def by_fill(run_id: str | None, device: Mapping[str, Scalar], steps: Steps) -> Section:
    """Return the time of a device's kernels by how often their blocks fill the device."""
    cases = " ".join(f"WHEN {condition} THEN '{name}'" for name, condition in FILLS.items())
    return _grouped(
        "How far they fill the device", f"CASE {cases} END AS fill", run_id, device, steps
    )


def _grouped(
    title: str, column: str, run_id: str | None, device: Mapping[str, Scalar], steps: Steps
) -> Section:
    name = column.rpartition(" ")[2]
    return Section(
        title,
        "kernel_shapes_of_steps",
        select(
            f"{column}, sum(percent) AS percent, sum(device_ns)::BIGINT AS device_ns, "
            "sum(calls)::BIGINT AS calls, sum(saved_ns) AS saved_ns",
            "kernel_shapes_of_steps",
            {**device},
            arguments=(run_id, *steps),
            group_by="ALL",
            order_by=f"device_ns DESC, {name}",
        ),
        labels={"saved_ns": "could save", "bound": "bound by", "fill": "blocks"},
    )


def of_shape(row: Mapping[str, Any]) -> dict[str, Value]:
    """Return the conditions for the kernels of a row of `shapes`, in `kernel_efficiency`."""
    return {
        "kernel": str(row["kernel"]),
        **{f"{column}::VARCHAR": _text(row[column]) for column in SHAPE},
    }


def _text(value: Any) -> str | None:
    """Return a value of a launch shape as DuckDB casts it to a text."""
    if hasattr(value, "__len__"):
        return f"[{', '.join(str(int(each)) for each in value)}]"
    is_known = isinstance(value, Number) and value == value  # not NaN, or pandas' NA
    return str(value).removesuffix(".0") if is_known else None


def is_logarithmic(least_ns: float, most_ns: float) -> bool:
    """Return whether a histogram of durations needs a logarithmic axis."""
    return most_ns > SPREAD * max(least_ns, 1)


def durations(where: Mapping[str, Value], least_ns: float, most_ns: float) -> Query:
    """Return the query for a histogram of kernels' durations, from the shortest to the longest."""
    if is_logarithmic(least_ns, most_ns):
        bar = f"floor({BARS} * log10(greatest(dur_ns, {FIRST_BAR_NS})))"
        since, until = (f"10 ** (({bar} + {more}) / {BARS})" for more in (0, 1))
    else:
        width = max(1, ceil((most_ns - least_ns + 1) / MAX_BARS))
        since = f"dur_ns // {width} * {width}"
        until = f"{since} + {width}"
    return select(
        f"{since} AS since_ns, {until} AS until_ns, count(*) AS calls",
        "kernel_efficiency",
        where,
        group_by="ALL",
        order_by="since_ns",
    )


def operators(where: Mapping[str, Value]) -> Query:
    """Return the query for the innermost operators that launch kernels."""
    return select(
        f"coalesce(op, {literal(NO_OP)}) AS op, "
        "100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (), 0) AS percent, "
        "sum(dur_ns)::BIGINT AS device_ns, count(*) AS calls",
        "kernel_efficiency",
        where,
        group_by="ALL",
        order_by="device_ns DESC, op",
    )


def modules(where: Mapping[str, Value]) -> Query:
    """Return the query for the nn.Modules that launch kernels, without torch's numbers for them."""
    chosen = select("run_id, event_id, dur_ns", "kernel_efficiency", where)
    return Query(
        f"WITH chosen AS (\n{chosen.text}\n)\n"
        "SELECT regexp_replace(ops.module, '_[0-9]+', '', 'g') AS module, "
        "count(DISTINCT ops.module) AS modules, "
        "100.0 * sum(chosen.dur_ns) / nullif(sum(sum(chosen.dur_ns)) OVER (), 0) AS percent, "
        "sum(chosen.dur_ns)::BIGINT AS device_ns, count(*) AS calls\n"
        "FROM chosen\n"
        "INNER JOIN kernels USING (run_id, event_id)\n"
        "INNER JOIN ops ON kernels.run_id = ops.run_id AND kernels.op_id = ops.event_id\n"
        "WHERE ops.module IS NOT NULL\n"
        "GROUP BY 1\n"
        "ORDER BY device_ns DESC, module",
        chosen.parameters,
    )


def lines(run_id: str | None, rank: int, kernel: str, steps: Steps) -> Query:
    """Return the query for the lines of Python that launch a kernel, in any launch shape."""
    return select(
        "name, 100.0 * device_ns / nullif(sum(device_ns) OVER (), 0) AS percent, device_ns, calls",
        "kernel_lines",
        {"rank": rank, "name IS NOT NULL": True},
        arguments=(run_id, kernel, *steps),
        order_by="device_ns DESC, name",
    )


def calls(where: Mapping[str, Value], limit: int) -> Query:
    """Return the query for the longest kernels, with what is needed to show them in a timeline."""
    chosen = select("run_id, event_id", "kernel_efficiency", where)
    return Query(
        f"WITH chosen AS (\n{chosen.text}\n)\n"
        "SELECT step, dur_ns, stream, coalesce(graph_op, op) AS op, event_id, start_ns, launch_ns\n"
        "FROM chosen\n"
        "INNER JOIN kernels USING (run_id, event_id)\n"
        "ORDER BY dur_ns DESC, start_ns\n"
        f"LIMIT {int(limit)}",
        chosen.parameters,
    )


def counted(where: Mapping[str, Value]) -> Section:
    """Return what hardware counters measured for kernels, beside the work of their operators."""
    return Section(
        "Measured by hardware counters",
        "kernel_efficiency",
        select(
            "kernel, op, count(*) AS calls, "
            "try_cast(sum(measured_flops) AS BIGINT) AS measured_flops, "
            "try_cast(sum(flops) FILTER (WHERE level = 'kernel') AS BIGINT) AS flops, "
            "try_cast(sum(measured_bytes) AS BIGINT) AS measured_bytes, "
            "try_cast(sum(bytes) FILTER (WHERE level = 'kernel') AS BIGINT) AS bytes",
            "kernel_efficiency",
            {**where, "dur_ns IS NULL": True},
            group_by="kernel, op, level",
            order_by="measured_flops DESC NULLS LAST, measured_bytes DESC NULLS LAST, kernel, op",
        ),
        labels={
            "measured_flops": "measured operations",
            "flops": "computed operations",
            "measured_bytes": "measured bytes",
            "bytes": "computed bytes",
        },
        note="The counters do not count operations on tensor cores. Computed work needs recorded "
        "shapes, and an operator with one kernel.",
    )


def peaks(where: Mapping[str, Value]) -> Query:
    """Return the query for a device's peak rates, the highest first, and where they come from."""
    return select(
        "precision, tflop_per_s, tflop_per_s_from, measured_tflop_per_s",
        "device_peaks",
        where,
        order_by="tflop_per_s DESC, precision",
    )


def precisions(where: Mapping[str, Value]) -> Query:
    """Return the query for the types in which the operators of kernels compute."""
    chosen = select("DISTINCT run_id, op_id", "kernel_efficiency", where)
    return Query(
        f"WITH chosen AS (\n{chosen.text}\n)\n"
        "SELECT DISTINCT precision\nFROM chosen\n"
        "INNER JOIN op_efficiency USING (run_id, op_id)\n"
        "WHERE precision IS NOT NULL\nORDER BY precision",
        chosen.parameters,
    )


def over_all(runs: Sequence[str], *, search: str = "") -> Section:
    """Return the kernels of several runs in the median steps of their devices."""
    return Section(
        "Kernels of the median step, side by side",
        "kernel_efficiency",
        select(
            "run_id, kernel, count(*) AS calls, sum(dur_ns)::BIGINT AS device_ns",
            "kernel_efficiency",
            {"run_id": runs, "is_median": True, "dur_ns IS NOT NULL": True},
            containing=("kernel", search),
            group_by="run_id, kernel",
            order_by="device_ns DESC, kernel, run_id",
        ),
    )

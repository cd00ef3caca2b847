"""Compares TraceLens' operations, bytes and rates of operators with tracehouse."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import sqrt
from statistics import mean, median, stdev
from typing import Any, NamedTuple

from docs.generate.figures_of_peers.figures import Comparison, Figures, Trace, text_of
from docs.generate.figures_of_peers.tracelens_ops import ARGUMENTS
from docs.generate.figures_of_peers.work_by_hand import RULES, Call, bytes_of, flops_of

STEP_NS = 0.25  # the error of the duration of an activity in TraceLens
# The work and the rates of a call are those of the operator that has the work of its kernels. This
# operator may be around the call or inside of it: `aten::linear` around `aten::addmm`, and
# `aten::linalg_vector_norm` inside of `aten::linalg_norm`.
CALLS = """WITH RECURSIVE inside AS (
    SELECT op_id, event_id, dur_ns, work_op_id
    FROM kernels WHERE run_id = '{run}' AND op_id IS NOT NULL
    UNION ALL
    SELECT ops.parent_op_id, inside.event_id, inside.dur_ns, work_op_id
    FROM inside INNER JOIN ops ON ops.run_id = '{run}' AND inside.op_id = ops.event_id
    WHERE ops.parent_op_id IS NOT NULL
),
calls AS (
    SELECT op_id, work_op_id, count(*) AS kernels, sum(dur_ns) AS dur_ns FROM inside GROUP BY ALL
)
SELECT event.name, {arguments},
    if(count(DISTINCT work.flops) = 1, any_value(work.flops), NULL) AS flops,
    if(count(DISTINCT work.bytes) = 1, any_value(work.bytes), NULL) AS bytes,
    any_value(intensity) AS intensity,
    list(coalesce(tflop_per_s, 0) ORDER BY event_id) AS flop_rates,
    list(coalesce(tb_per_s, 0) ORDER BY event_id) AS byte_rates,
    list(calls.dur_ns ORDER BY event_id) AS durations,
    list(calls.kernels ORDER BY event_id) AS kernels
FROM calls
INNER JOIN events AS event ON event.run_id = '{run}' AND calls.op_id = event.event_id
LEFT JOIN (
    SELECT op_id, flops, coalesce(bytes_read + bytes_written, bytes_at_most) AS bytes
    FROM op_work WHERE run_id = '{run}'
) AS work ON calls.work_op_id = work.op_id
LEFT JOIN op_efficiency AS efficiency
    ON efficiency.run_id = '{run}' AND calls.work_op_id = efficiency.op_id
GROUP BY ALL"""
WORK = ("GFLOPS", "Data Moved (MB)", "FLOPS/Byte")
RATES = ("TFLOPS/s", "TB/s")
STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "mean": mean,
    "median": median,
    "min": min,
    "max": max,
}


class Row(NamedTuple):
    """Calls with equal arguments, and what tracehouse says about them."""

    key: tuple[str, ...]
    call: Call
    flops: int | None
    bytes: int | None
    intensity: float | None
    flop_rates: list[float]  # of each call, as are the next three
    byte_rates: list[float]
    durations: list[int]
    kernels: list[int]


def comparisons(trace: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare the work and the rates of the calls that TraceLens has a model for."""
    peer = {
        (row["name"], *(text_of(row[name]) for name in ARGUMENTS)): row
        for row in output["unified_perf_summary_top50"]
        if row["GFLOPS"] is not None
    }
    rows = [row for row in _rows(trace) if row.key in peer]
    ours: Figures = {}
    for row in rows:
        ours |= _named(row, _work(row.flops, row.bytes) | {"FLOPS/Byte": row.intensity})
        ours |= _named(row, _rates(row, row.flop_rates, row.byte_rates))
    by_rule = {", ".join(rules): _by_hand(rows, frozenset(rules)) for rules in _chosen()}
    for sheet, names in (("work", WORK), ("rates", RATES)):
        figures = {
            (*key, name): value
            for key, row in peer.items()
            for name, value in row.items()
            if name.startswith(names) and (value is not None or ours.get((*key, name)))
        }
        yield Comparison(
            f"unified_perf_summary, {sheet}",
            trace.name,
            figures,
            {key: ours[key] for key in figures if key in ours},
            by_rule,
        )


def _chosen() -> Iterator[tuple[str, ...]]:
    """Yield no rule, each rule, and each pair of rules."""
    for size in range(3):
        yield from combinations(RULES, size)


def _rows(trace: Trace) -> Iterator[Row]:
    arguments = ", ".join(f"""args ->> '$."{name}"' AS "{name}" """ for name in ARGUMENTS)
    query = CALLS.format(run=trace.run, arguments=arguments)
    for (
        name,
        *texts,
        flops,
        size,
        intensity,
        flop_rates,
        byte_rates,
        durations,
        kernels,
    ) in trace.connection.execute(query).fetchall():
        if None in texts:
            continue
        shapes, types, strides, values = map(json.loads, texts)
        call = Call(name, shapes, types, strides, values)
        yield Row(
            (name, *texts), call, flops, size, intensity, flop_rates, byte_rates, durations, kernels
        )


def _by_hand(rows: Sequence[Row], rules: frozenset[str]) -> Figures:
    """Return the figures of calls from their arguments and the durations of their kernels."""
    figures: Figures = {}
    for row in rows:
        flops, size = flops_of(row.call, rules), bytes_of(row.call, rules)
        figures |= _named(row, _work(flops, size))
        flop_rates, byte_rates = (
            [(amount or 0) / duration / 1e3 for duration in row.durations]
            for amount in (flops, size)
        )
        figures |= _named(row, _rates(row, flop_rates, byte_rates))
    return figures


def _named(row: Row, figures: dict[str, Any]) -> Figures:
    return {(*row.key, name): value for name, value in figures.items()}


def _work(flops: int | None, size: int | None) -> dict[str, Any]:
    values = (
        None if flops is None else flops / 1e9,
        None if size is None else size / 2**20,
        flops / size if flops is not None and size else None,
    )
    return dict(zip(WORK, values, strict=True))


def _rates(row: Row, *rates: list[float]) -> dict[str, Any]:
    """Return statistics of rates of the calls, as bounds of what TraceLens may have computed."""
    figures: dict[str, Any] = {}
    for name, values in zip(RATES, rates, strict=True):
        errors = [
            value * STEP_NS * kernels / duration
            for value, kernels, duration in zip(values, row.kernels, row.durations, strict=True)
        ]
        lower = [value - error for value, error in zip(values, errors, strict=True)]
        upper = [value + error for value, error in zip(values, errors, strict=True)]
        figures |= {
            f"{name}_{of}": [compute(lower), compute(upper)] for of, compute in STATISTICS.items()
        }
        if len(values) > 1:
            deviation, error = stdev(values), sqrt(2) * max(errors)
            figures[f"{name}_std"] = [deviation - error, deviation + error]
    return figures

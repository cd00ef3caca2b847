"""Compares HTA 0.6.1's differences of two traces with tracehouse."""

from collections.abc import Iterator
from typing import Any

from docs.generate.figures_of_peers.figures import PLAIN, Comparison, Trace
from docs.generate.figures_of_peers.hta_device import ORPHANS

DIFF = """SELECT name, control_counts, control_total_duration, test_counts, test_total_duration,
    test_counts - control_counts AS diff_counts,
    test_total_duration - control_total_duration AS diff_duration
FROM ({sides})"""
SIDES = """SELECT name, count(*) FILTER (run_id = '{control}') AS control_counts,
    coalesce(sum(dur_ns) FILTER (run_id = '{control}'), 0) / 1e3 AS control_total_duration,
    count(*) FILTER (run_id = '{test}') AS test_counts,
    coalesce(sum(dur_ns) FILTER (run_id = '{test}'), 0) / 1e3 AS test_total_duration
FROM {source} WHERE run_id IN ('{control}', '{test}') AND step = 1009 GROUP BY name"""
KERNEL_DIFF = """SELECT name, base_calls AS control_counts, base_ns / 1e3 AS control_total_duration,
    other_calls AS test_counts, other_ns / 1e3 AS test_total_duration
FROM kernel_diff('{control}', '{test}', nth_step := 1)"""
CHANGED = """SELECT count(*) FILTER (control_counts = 0) AS added,
    count(*) FILTER (test_counts = 0) AS deleted,
    count(*) FILTER (control_counts > 0 AND diff_counts > 0) AS increased,
    count(*) FILTER (test_counts > 0 AND diff_counts < 0) AS decreased,
    count(*) FILTER (test_counts > 0 AND diff_counts = 0) AS unchanged
FROM ({diff})"""


def differences(control: Trace, test: Trace, output: dict[str, Any]) -> Iterator[Comparison]:
    """Compare TraceDiff of the first iterations of two traces."""
    both = Trace(control.connection, f"{control.name}, {test.name}", control.run)
    runs = {"control": control.run, "test": test.run}
    host = SIDES.format(source="(FROM events WHERE depth IS NOT NULL)", **runs)
    every = SIDES.format(source="kernels", **runs)
    launched = SIDES.format(source="(FROM kernels WHERE launch_id IS NOT NULL)", **runs)
    for device, sides, rules in (
        ("CPU", host, {}),
        ("GPU", KERNEL_DIFF.format(**runs), {PLAIN: every, ORPHANS: launched}),
    ):
        queries = {rule: DIFF.format(sides=text) for rule, text in rules.items()}
        diff = DIFF.format(sides=sides)
        yield both.compared(
            f"compare_traces, {device}",
            output[device]["rows"],
            diff,
            {rule: both.figures_of(query) for rule, query in queries.items()},
            keys=("name",),
        )
        yield both.compared(
            f"ops_diff, {device}",
            [output[f"{device}_ops_diff_counts"]],
            CHANGED.format(diff=diff),
            {rule: both.figures_of(CHANGED.format(diff=query)) for rule, query in queries.items()},
        )

"""What `ingest diff` and page Compare say: metrics of two runs, and the change, broken down.

`ingest.compare` has the metrics of groups of runs, with p-values.
"""

from collections.abc import Sequence

from ingest.comparison.comparison import Comparison
from ingest.names import NO_MODULE
from ingest.reports.query import Query, Scalar, Value, select
from ingest.reports.section import Section
from ingest.sql import literal

LEVELS = {
    "op": "operator",
    "kernel": "kernel",
    "module": "nn.Module (without submodules)",
    "class": "class",
}
# The macro of each level, and its columns.
MACROS = {
    "op": ("op_diff", "*"),
    "kernel": ("kernel_diff", "*"),
    "module": (
        "module_diff",
        f"* REPLACE (if(module = '', {literal(NO_MODULE)}, module) AS name)",
    ),
    "class": (
        "run_diff",
        "metric AS name, coalesce(base, 0) AS base_ns, coalesce(other, 0) AS other_ns, "
        "change AS change_ns, percent",
    ),
}
# The rows of `run_diff` that add up to the busy time.
CLASS_ROWS: dict[str, Value] = {
    "metric": ("compute", "communication", "copy", "compiled_code", "overlap"),
    "(coalesce(base, 0) <> 0 OR coalesce(other, 0) <> 0)": True,
}


def metrics(base: str, other: str, rank: int | None, nth_step: int | None = None) -> Query:
    """Return the query for the metrics of two runs, of their median steps or of step `nth_step`.

    Each run's default rank is compared if `rank` is None.
    """
    macro, arguments = "run_diff", [base, other, rank]
    if nth_step:
        macro, arguments = "step_diff", [base, other, nth_step, rank]
    columns = "metric, unit, base, other, change, percent, is_part, ordinal"
    return select(columns, macro, arguments=arguments, order_by="ordinal")


def breakdown(comparison: Comparison, level: str) -> Section:
    """Return the rows of a level (`LEVELS`), which add up to the change of the busy time.

    A group is represented by its run with the median wall time. `class` has the classes of
    `run_diff` and their overlap; the other levels have the rows of `op_diff`, `kernel_diff` and
    `module_diff`.
    """
    base, other = comparison.base, comparison.other
    host = "host" in (base.measure, other.measure)
    time = "Host" if host else "Device"
    title = f"{time} time by {LEVELS[level]}, of the {interval(comparison)}"
    if comparison.is_mixed and level == "class":  # a run with a device has no host time by class
        title = f"Time by class, of a {base.measure} and a {other.measure}"
    if comparison.has_groups:
        title += f": {base.run} and {other.run}"
    macro, _ = MACROS[level]
    return Section(
        title,
        macro,
        changes(level, [base.run, other.run, comparison.rank]),
        labels={"name": level, "base_ns": "base", "other_ns": "other", "change_ns": "change"},
    )


def changes(level: str, arguments: Sequence[Scalar], columns: str | None = None) -> Query:
    """Return the query for the rows of a level, the largest change first.

    `arguments` are those of the macro: both runs, the rank and, except for `class`, the number of
    the step. The default columns are all, with a name, both times in ns, and their change.
    """
    macro, all_columns = MACROS[level]
    return select(
        columns or all_columns,
        macro,
        CLASS_ROWS if level == "class" else None,
        arguments=arguments,
        order_by="abs(change_ns) DESC, base_ns DESC, name",
    )


def interval(comparison: Comparison) -> str:
    """Return the name of the interval that the metrics cover."""
    has_steps = {comparison.base.steps_from, comparison.other.steps_from} != {"run"}
    return "median step" if has_steps else "whole recording"

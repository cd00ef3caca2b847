"""The report that `ingest diff` prints."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ingest.cli.terminal import results, table
from ingest.comparison.comparison import Comparison
from ingest.comparison.gate import Verdict
from ingest.comparison.metrics import Metric
from ingest.comparison.rank_test import SIGNIFICANT, least_p
from ingest.comparison.sides import Side
from ingest.reports.diff import interval
from ingest.units import UNKNOWN, amount, change, counted, percent_change, printable, rank_name

Row = dict[str, Any]

LONGEST_NAME = 60
MAX_REPLACED = 8  # operators listed under a fused kernel
WIDE_ENOUGH = 120  # terminal width that all columns need
TIMES = ("base", "other", "change", "%")
NARROW = ("name", "status", *TIMES, "calls")
SUMMED = (
    *("base_ns", "other_ns", "change_ns"),
    *("base_calls", "other_calls", "base_kernels", "other_kernels"),
)
REST = {
    None: "… {:,} more",
    "only_base": "… {:,} only in BASE",
    "only_other": "… {:,} only in OTHER",
}


def diff_report(
    comparison: Comparison,
    title: str,
    rows: Sequence[Row],
    level: str,
    of_ranks: Iterable[RenderableType] = (),
    verdicts: Iterable[Verdict] = (),
    limit: int = 20,
    unfold: bool = False,
) -> Iterator[RenderableType]:
    """Yield both sides, their metrics, their ranks, and the rows of a level, with their sum.

    `title` is the title of the rows (`diff.breakdown`), `of_ranks` what ranks say. Rows beyond
    `limit` are summed up, with separate sums for rows of only one side. With `unfold`, the
    operators that a fused kernel replaces are listed under it.
    """
    yield from _head(comparison)
    yield from _spreads(comparison)
    yield _metrics(comparison)
    yield from _of_groups(comparison)
    yield from of_ranks
    yield from _rows(title, rows, level, limit, unfold)
    for verdict in verdicts:
        held = {True: "holds", False: "does not hold", None: "unknown"}[verdict.holds]
        yield Text(f"{verdict.condition}: {held}: {verdict.reason}")


def _head(comparison: Comparison) -> Iterator[Text]:
    for name, side in (("BASE ", comparison.base), ("OTHER", comparison.other)):
        device = "host" if side.device is None else f"device {side.device}"
        runs = f"median of {len(side.runs)} runs: " if side.is_group else ""
        rank = rank_name(side.rank, side.default_reason)
        yield Text(f"{name}  {runs}{side.run}  {rank}  {device}  {_steps(side)}", "bold")


def _steps(side: Side) -> str:
    if side.steps_from == "run":
        return "no steps found: the whole run"
    name = printable(side.step_name or side.steps_from, LONGEST_NAME)
    how = f"annotation {name}" if side.steps_from == "annotation" else name
    median = f", the median is step {side.step}" if side.steps > 1 else ""
    return f"{counted(side.steps, 'step')} ({how}){median}"


def _spreads(comparison: Comparison) -> Iterator[Text]:
    """Describe how much the steps of each side vary, because the metrics cover only one step."""
    for name, side in (("BASE", comparison.base), ("OTHER", comparison.other)):
        if side.q1_wall_ns is not None and side.steps > 1:
            times = (amount(ns, "ns") for ns in (side.q1_wall_ns, side.q3_wall_ns))
            yield Text(f"{name}: half of the steps take {' to '.join(times)}", "italic")


def _metrics(comparison: Comparison) -> Text:
    """Return a table of the wall time, its parts, and the other metrics that changed."""
    shown = [metric for metric in comparison.metrics if _is_shown(metric)]
    of = interval(comparison)
    if not comparison.has_groups:
        return table((of, *TIMES), map(_pair, shown), right=TIMES)
    columns = (of, "base", "±", "other", "±", "change", "%", "p")
    return table(columns, map(_group, shown), right=columns[1:])


def _is_shown(metric: Metric) -> bool:
    if metric.is_part:
        return bool(metric.base or metric.other)
    return metric.name == "wall" or metric.base != metric.other


def _pair(metric: Metric) -> list[str]:
    base, other = amount(metric.base, metric.unit), amount(metric.other, metric.unit)
    name = f"  {metric.name}" if metric.is_part else metric.name
    return [name, base, other, _change(metric.change, metric.unit), _percent(metric.percent)]


def _group(metric: Metric) -> list[str]:
    name, base, other, changed, percent = _pair(metric)
    spreads = (metric.base_spread, metric.other_spread)
    around = ["" if spread is None else amount(spread, metric.unit) for spread in spreads]
    p = UNKNOWN if metric.p is None else f"{metric.p:.2g}"
    return [name, base, around[0], other, around[1], changed, percent, p]


def _of_groups(comparison: Comparison) -> Iterator[Text]:
    if not comparison.has_groups:
        return
    n, m = len(comparison.base.runs), len(comparison.other.runs)
    yield Text(
        "Metrics are medians, so parts need not add up. ±: median distance from the median. p: "
        "probability that chance alone ranks the runs like this (rank test)."
    )
    if (best := least_p(n, m)) >= SIGNIFICANT:
        yield Text(f"{n} against {m} runs are too few for a rank test: p is {best:.2g} at best")


def _rows(
    title: str, rows: Sequence[Row], level: str, limit: int, unfold: bool
) -> Iterator[RenderableType]:
    if not rows:
        yield Text(f"\n{title}: nothing", "italic")
        return
    columns = [name for name in COLUMNS if _has(rows, name)]
    if results().width < WIDE_ENOUGH:
        columns = [name for name in columns if name in NARROW]
    shown: list[Row] = []
    for row in rows[:limit]:
        shown.append(row)
        if unfold and row.get("status") == "fused":
            shown += _replaced(row)
    shown += _rest(rows[limit:])
    shown.append(_sum(rows, "sum"))
    cells = ([COLUMNS[name](row) for name in columns] for row in shown)
    right = [*TIMES, "calls", "kernels"]
    yield table([name.replace("name", level) for name in columns], cells, title, right=right)


def _has(rows: Sequence[Row], column: str) -> bool:
    return any(COLUMNS[column](row) for row in rows)


def _replaced(row: Row) -> Iterator[Row]:
    """Yield the operators that a fused row replaces, by name, the longest first."""
    sums: dict[str, Row] = {}
    for side in ("base", "other"):
        for op in row[f"{side}_ops"] or []:
            if op["name"] == row["name"]:
                continue
            made = sums.setdefault(
                op["name"], {"name": f"  {op['name']}", "where": op["host_frame"]}
            )
            made[f"{side}_ns"] = made.get(f"{side}_ns", 0) + op["ns"]
            made[f"{side}_calls"] = made.get(f"{side}_calls", 0) + op["calls"]
    ranked = sorted(sums.values(), key=lambda one: -one.get("base_ns", 0) - one.get("other_ns", 0))
    yield from ranked[:MAX_REPLACED]
    if rest := ranked[MAX_REPLACED:]:
        yield _sum(rest, f"  … {len(rest):,} more")


def _rest(rows: Sequence[Row]) -> Iterator[Row]:
    """Sum up the rows that are not shown: those of both sides, of only BASE, of only OTHER."""
    for status, name in REST.items():
        summed = [row for row in rows if _only_on(row) == status]
        if summed:
            yield _sum(summed, name.format(len(summed)))


def _only_on(row: Row) -> str | None:
    status = row.get("status")
    if status is None and row.get("base_calls") == 0:
        return "only_other"
    if status is None and row.get("other_calls") == 0:
        return "only_base"
    return status if status in REST else None


def _sum(rows: Sequence[Row], name: str) -> Row:
    made: Row = {"name": name}
    for key in SUMMED:
        values = [row[key] for row in rows if row.get(key) is not None]
        if values:
            made[key] = sum(values)
    if made.get("base_ns") and "change_ns" in made:
        made["percent"] = 100 * made["change_ns"] / made["base_ns"]
    return made


def _change(value: float | None, unit: str) -> str:
    return change(value, partial(amount, unit=unit))


def _percent(value: float | None) -> str:
    """Format a percentage for a column with the title %."""
    return percent_change(value).removesuffix("%")


def _time(key: str) -> Callable[[Row], str]:
    return lambda row: "" if row.get(key) is None else amount(row[key], "ns")


def _count(key: str) -> Callable[[Row], str]:
    """Return a formatter of counts: `26 → 1`, or one number if both sides have the same."""

    def text(row: Row) -> str:
        base, other = row.get(f"base_{key}"), row.get(f"other_{key}")
        if base is None and other is None:
            return ""
        if base == other:
            return amount(base, "count")
        return f"{amount(base or 0, 'count')} → {amount(other or 0, 'count')}"

    return text


def _where(row: Row) -> str:
    """Return a row's origin: its module or, if unknown, its function, or its input shapes."""
    module = row.get("module") if row.get("module") != row["name"] else None
    origin = row.get("where") or module or row.get("host_frame")
    if not origin:
        ops = (row.get("base_ops") or []) + (row.get("other_ops") or [])
        origin = next((op["shapes"] for op in ops if op["shapes"]), "")
    return origin if len(origin) <= LONGEST_NAME else f"…{origin[-LONGEST_NAME + 1 :]}"


COLUMNS: dict[str, Callable[[Row], str]] = {
    "name": lambda row: printable(row["name"], LONGEST_NAME),
    "status": lambda row: row.get("status") or "",
    "base": _time("base_ns"),
    "other": _time("other_ns"),
    "change": lambda row: _change(row.get("change_ns"), "ns") if "change_ns" in row else "",
    "%": lambda row: _percent(row.get("percent")) if "change_ns" in row else "",
    "calls": _count("calls"),
    "kernels": _count("kernels"),
    "evidence": lambda row: row.get("evidence") or "",
    "where": _where,
}

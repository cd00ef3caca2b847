"""`ingest diff`: a comparison as people read it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ingest.comparison.comparison import Comparison
from ingest.comparison.gate import Verdict
from ingest.comparison.metrics import Metric
from ingest.comparison.rank_test import SIGNIFICANT, least_p
from ingest.comparison.sides import Side
from ingest.terminal import results, table
from ingest.units import UNKNOWN, amount, change, counted, percent_change, printable

Row = dict[str, Any]

LONGEST_NAME = 60
MOST_REPLACED = 8  # names under a fused row
WIDE_ENOUGH = 120  # of a terminal, for all columns
LEVELS = {"op": "operator", "kernel": "kernel", "module": "nn.Module, own time", "class": "class"}
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
    rows: Sequence[Row],
    level: str,
    verdicts: Iterable[Verdict] = (),
    limit: int = 20,
    unfold: bool = False,
) -> Iterator[RenderableType]:
    """Both sides, their metrics, and the rows of a level, of which the last is their sum.

    Rows beyond `limit` are summed up, those without a partner by themselves. With `unfold`, the
    operators that a fused kernel replaces stand under it.
    """
    yield from _head(comparison)
    yield from _spreads(comparison)
    yield _metrics(comparison)
    yield from _of_groups(comparison)
    yield from _rows(comparison, rows, level, limit, unfold)
    for verdict in verdicts:
        held = {True: "holds", False: "does not hold", None: "unknown"}[verdict.holds]
        yield Text(f"{verdict.condition}: {held}: {verdict.reason}")


def _head(comparison: Comparison) -> Iterator[Text]:
    for name, side in (("BASE ", comparison.base), ("OTHER", comparison.other)):
        place = "host" if side.device is None else f"device {side.device}"
        runs = f"median of {len(side.runs)} runs: " if side.is_group else ""
        yield Text(f"{name}  {runs}{side.run}  rank {side.rank}  {place}  {_steps(side)}", "bold")


def _steps(side: Side) -> str:
    if side.steps_from == "run":
        return "no steps found: the whole run"
    name = printable(side.step_name or side.steps_from, LONGEST_NAME)
    how = f"annotation {name}" if side.steps_from == "annotation" else name
    median = f", the median is step {side.step}" if side.steps > 1 else ""
    return f"{counted(side.steps, 'step')} ({how}){median}"


def _spreads(comparison: Comparison) -> Iterator[Text]:
    """How much the steps of each side vary: the metrics are those of one."""
    for name, side in (("BASE", comparison.base), ("OTHER", comparison.other)):
        if side.q1_wall_ns is not None and side.steps > 1:
            times = (amount(ns, "ns") for ns in (side.q1_wall_ns, side.q3_wall_ns))
            yield Text(f"{name}: half of the steps take {' to '.join(times)}", "italic")


def _metrics(comparison: Comparison) -> Text:
    """The wall time, its parts, and of the other metrics those that changed."""
    shown = [metric for metric in comparison.metrics if _is_shown(metric)]
    of = _of(comparison)
    if not comparison.has_groups:
        return table((of, *TIMES), map(_pair, shown), right=TIMES)
    columns = (of, "base", "±", "other", "±", "change", "%", "p")
    return table(columns, map(_group, shown), right=columns[1:])


def _of(comparison: Comparison) -> str:
    """What the metrics are of."""
    has_steps = {comparison.base.steps_from, comparison.other.steps_from} != {"run"}
    return "median step" if has_steps else "whole recording"


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
        "medians, which need not add up; ±: median distance from them; p: of a rank test, how "
        "often chance alone ranks the runs so"
    )
    if (best := least_p(n, m)) >= SIGNIFICANT:
        yield Text(f"{n} against {m} runs are too few to tell: p is at best {best:.2g}")


def _rows(
    comparison: Comparison, rows: Sequence[Row], level: str, limit: int, unfold: bool
) -> Iterator[RenderableType]:
    host = "host" in (comparison.base.measure, comparison.other.measure)
    title = f"{'Host' if host else 'Device'} time by {LEVELS[level]}, of the {_of(comparison)}"
    if comparison.is_mixed and level == "class":  # no host's time is known of a run with a device
        title = f"Time by class, of a {comparison.base.measure} and a {comparison.other.measure}"
    if comparison.has_groups:
        title += f": {comparison.base.run} and {comparison.other.run}"
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
    """The operators on either side of a fused row, by name, the longest first."""
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
    yield from ranked[:MOST_REPLACED]
    if rest := ranked[MOST_REPLACED:]:
        yield _sum(rest, f"  … {len(rest):,} more")


def _rest(rows: Sequence[Row]) -> Iterator[Row]:
    """A row for all rows that are not shown, and for those that stand alone."""
    for status, name in REST.items():
        alike = [row for row in rows if _alone(row) == status]
        if alike:
            yield _sum(alike, name.format(len(alike)))


def _alone(row: Row) -> str | None:
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
    """In a column that is headed %."""
    return percent_change(value).removesuffix("%")


def _time(key: str) -> Callable[[Row], str]:
    return lambda row: "" if row.get(key) is None else amount(row[key], "ns")


def _count(what: str) -> Callable[[Row], str]:
    """`26 → 1`; one number where it is the same on both sides."""

    def said(row: Row) -> str:
        base, other = row.get(f"base_{what}"), row.get(f"other_{what}")
        if base is None and other is None:
            return ""
        if base == other:
            return amount(base, "count")
        return f"{amount(base or 0, 'count')} → {amount(other or 0, 'count')}"

    return said


def _where(row: Row) -> str:
    """Where a row comes from, as far as that is known: its module, else function, else shapes."""
    module = row.get("module") if row.get("module") != row["name"] else None
    place = row.get("where") or module or row.get("host_frame")
    if not place:
        ops = (row.get("base_ops") or []) + (row.get("other_ops") or [])
        place = next((op["shapes"] for op in ops if op["shapes"]), "")
    return place if len(place) <= LONGEST_NAME else f"…{place[-LONGEST_NAME + 1 :]}"


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

"""Queries over `op_diff`: filters and sums. The rows are computed once per pair."""

from dataclasses import dataclass, replace

import pandas as pd

import ingest
from dashboard import data
from dashboard.compare.pair import Pair
from ingest import server
from ingest.server import Query, Value, select

COLUMNS = (
    "status, name, module, host_frame, evidence, base_ns, other_ns, change_ns, of_calls_ns, "
    "of_time_ns, percent AS change_percent, base_calls, other_calls, base_kernels, other_kernels, "
    "base_launches, other_launches, kernels_saved, launches_saved, row_id, "
    "shapes_text(coalesce(base_ops, other_ops)[1].shapes, NULL) AS shapes"
)
SEARCHED = (
    "concat_ws(' ', name, module, host_frame, "
    "array_to_string(list_distinct(list_transform(base_ops, LAMBDA op: op.name)), ' '))"
)
ORDER = "abs(change_ns) DESC, row_id"
OVERVIEW = (
    "count(*) AS rows, sum(base_ns) AS base_ns, sum(other_ns) AS other_ns, "
    "list(DISTINCT status) AS statuses, coalesce(bool_or(module <> ''), FALSE) AS has_modules"
)
STATUSES = {
    "fused": "fused",
    "faster": "faster",
    "slower": "slower",
    "fewer_calls": "fewer calls",
    "more_calls": "more calls",
    "only_base": "only in the first",
    "only_other": "only in the second",
    "same": "same",
}
HERE = "(directly)"


@dataclass(frozen=True)
class Filter:
    """A filter of rows: by a text in their names, status, module, and least change in ns."""

    search: str = ""
    statuses: tuple[str, ...] = ()
    module: str = ""
    least_ns: float = 0


@dataclass(frozen=True)
class Sums:
    """A number of rows and their times in ns."""

    rows: int
    base_ns: float
    other_ns: float

    def without(self, shown: "Sums") -> "Sums":
        """Return the difference to the sums of shown rows."""
        return Sums(
            self.rows - shown.rows, self.base_ns - shown.base_ns, self.other_ns - shown.other_ns
        )


@dataclass(frozen=True)
class Overview:
    """All rows of a pair: their sums, the statuses that occur, and whether modules are known."""

    total: Sums
    statuses: list[str]
    has_modules: bool


def from_to(base: pd.Series, other: pd.Series) -> pd.Series:
    """Return two columns of texts as one: `from → to`, or the text if both are equal."""
    return base.where(base == other, base + " → " + other)


def rows(pair: Pair, query: Query) -> pd.DataFrame:
    """Return the rows of a query over `op_diff` of this pair."""
    return data.rows_of_call(query, "op_diff", tuple(pair.arguments))


def query_of(pair: Pair, wanted: Filter = Filter(), limit: int | None = None) -> Query:
    """Return the query for the rows that match a filter, largest changes first."""
    return _select(pair, COLUMNS, wanted, order_by=ORDER, limit=limit)


def children_of(pair: Pair, wanted: Filter) -> Query:
    """Return the query for the children of the filter's module, largest change first.

    The columns are child, path (null for a child that is no module), base_ns, other_ns, change_ns,
    change_percent and rows. The children add up to the module.
    """
    depth = len(levels(wanted.module))
    names = "string_split(nullif(module, ''), '/')"
    here = ingest.literal(HERE if depth else server.names.NO_MODULE)
    columns = (
        f"coalesce({names}[{depth + 1}], {here}) AS child, "
        f"if(len({names}) > {depth}, array_to_string({names}[:{depth + 1}], '/'), NULL) AS path, "
        "sum(base_ns) AS base_ns, sum(other_ns) AS other_ns, sum(change_ns) AS change_ns, "
        "percent_change(sum(change_ns), sum(base_ns)) AS change_percent, count(*) AS rows"
    )
    order = "abs(sum(change_ns)) DESC, child"
    return _select(pair, columns, wanted, group_by="child, path", order_by=order)


def overview(pair: Pair) -> Overview:
    """Return the overview of all rows, without a filter."""
    (row,) = rows(pair, _select(pair, OVERVIEW)).itertuples()
    if not row.rows:
        return Overview(Sums(0, 0.0, 0.0), [], False)
    total = Sums(int(row.rows), float(row.base_ns), float(row.other_ns))
    statuses = [status for status in STATUSES if status in row.statuses]
    return Overview(total, statuses, bool(row.has_modules))


def has_rows(pair: Pair, wanted: Filter) -> bool:
    """Return whether any row matches a filter."""
    return not rows(pair, query_of(pair, wanted, limit=1)).empty


def smaller(pair: Pair, wanted: Filter) -> int:
    """Return the number of rows that match a filter except for its least change."""
    less = f"count(*) FILTER (abs(change_ns) < {ingest.literal(wanted.least_ns)}) AS rows"
    return int(rows(pair, _select(pair, less, replace(wanted, least_ns=0)))["rows"].iloc[0])


def sums(frame: pd.DataFrame) -> Sums:
    """Return the sums of rows."""
    return Sums(len(frame), float(frame["base_ns"].sum()), float(frame["other_ns"].sum()))


def levels(module: str) -> list[str]:
    """Return the module and its parents, outermost first."""
    names = [name for name in module.split("/") if name]
    return ["/".join(names[: index + 1]) for index in range(len(names))]


def _select(
    pair: Pair,
    columns: str,
    wanted: Filter = Filter(),
    *,
    group_by: str | None = None,
    order_by: str | None = None,
    limit: int | None = None,
) -> Query:
    where: dict[str, Value] = {}
    if wanted.statuses:
        where["status"] = list(wanted.statuses)
    if wanted.module:
        where[f"starts_with(concat(module, '/'), {ingest.literal(wanted.module + '/')})"] = True
    if wanted.least_ns:
        where["abs(change_ns) >="] = wanted.least_ns
    return select(
        columns,
        "op_diff",
        where,
        arguments=pair.arguments,
        containing=(SEARCHED, wanted.search),
        group_by=group_by,
        order_by=order_by,
        limit=limit,
    )

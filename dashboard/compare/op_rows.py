"""The rows of `op_diff`: fetched once for a pair of runs, then searched and added up here."""

from dataclasses import dataclass

import pandas as pd

from dashboard import data
from dashboard.compare.picker import Pair
from dashboard.query import Query, Value, inline, select
from dashboard.widgets import formatting

MOST_FETCHED = 20_000
COLUMNS = (
    "status, name, module, source, evidence, base_ns, other_ns, change_ns, "
    "percent AS change_percent, base_calls, other_calls, base_kernels, other_kernels, "
    "base_launches, other_launches, kernels_saved, launches_saved, row_id"
)
REPLACED = "list_distinct(list_transform(base_ops, LAMBDA op: op.name)) AS replaced"
SEARCHED = (
    "concat_ws(' ', name, module, source, "
    "array_to_string(list_distinct(list_transform(base_ops, LAMBDA op: op.name)), ' '))"
)
# Over all rows, whatever the limit.
TOTALS = (
    "count(*) OVER () AS all_rows, sum(base_ns) OVER () AS all_base_ns, "
    "sum(other_ns) OVER () AS all_other_ns"
)
ORDER = "abs(change_ns) DESC, row_id"
STATUSES = {
    "fused": "fused",
    "faster": "faster",
    "slower": "slower",
    "only_base": "only in the first",
    "only_other": "only in the second",
    "same": "same",
}
HERE = "(directly)"
NO_MODULE = "(no module)"


@dataclass(frozen=True)
class Filter:
    """What of the rows is shown: a text in their names, their statuses, the module they are in."""

    search: str = ""
    statuses: tuple[str, ...] = ()
    module: str = ""


@dataclass(frozen=True)
class Sums:
    """Rows and their times per step, ns."""

    rows: int
    base_ns: float
    other_ns: float

    def without(self, shown: "Sums") -> "Sums":
        """What is left of these beside those."""
        return Sums(
            self.rows - shown.rows, self.base_ns - shown.base_ns, self.other_ns - shown.other_ns
        )


def query_of(pair: Pair, wanted: Filter = Filter()) -> Query:
    """The rows that a filter leaves, the largest changes first."""
    where: dict[str, Value] = {}
    if wanted.statuses:
        where["status"] = list(wanted.statuses)
    if wanted.module:
        where[f"starts_with(concat(module, '/'), {inline(wanted.module + '/')})"] = True
    return select(
        COLUMNS,
        "op_diff",
        where,
        arguments=pair.arguments,
        containing=(SEARCHED, wanted.search),
        order_by=ORDER,
    )


def fetch(pair: Pair) -> pd.DataFrame:
    """All rows, or as many of the largest changes as a page can search."""
    query = select(
        f"{COLUMNS}, {REPLACED}, {TOTALS}",
        "op_diff",
        arguments=pair.arguments,
        order_by=ORDER,
        limit=MOST_FETCHED,
    )
    return data.rows(query)


def chosen(frame: pd.DataFrame, wanted: Filter) -> pd.DataFrame:
    """The rows that a filter leaves: those of its query, without asking the store again."""
    keep = pd.Series(True, frame.index)
    if wanted.statuses:
        keep &= frame["status"].isin(wanted.statuses)
    if wanted.module:
        keep &= (modules(frame) + "/").str.startswith(wanted.module + "/")
    if wanted.search:
        replaced = frame["replaced"].map(
            lambda names: "" if formatting.missing(names) else " ".join(names)
        )
        texts = [frame[column].fillna("") for column in ("name", "module", "source")]
        keep &= (
            pd.concat([*texts, replaced], axis=1)
            .agg(" ".join, axis=1)
            .str.lower()
            .str.contains(wanted.search.lower(), regex=False)
        )
    return frame[keep]


def modules(frame: pd.DataFrame) -> pd.Series:
    """The module of each row; empty where it has none."""
    return frame["module"].fillna("").astype(str)


def sums(frame: pd.DataFrame) -> Sums:
    """Of these rows."""
    return Sums(len(frame), float(frame["base_ns"].sum()), float(frame["other_ns"].sum()))


def total(frame: pd.DataFrame) -> Sums:
    """Of all rows that there are, fetched or not."""
    first = frame.iloc[0]
    return Sums(int(first["all_rows"]), float(first["all_base_ns"]), float(first["all_other_ns"]))


def children(frame: pd.DataFrame, module: str) -> pd.DataFrame:
    """What is directly below a module: a row a child, the largest change first.

    Columns: child, path (null where there is nothing below to look into), base_ns, other_ns,
    change_ns, change_percent, rows. The children add up to the module.
    """
    inside = chosen(frame, Filter(module=module))
    depth = len(module.split("/")) if module else 0
    paths = modules(inside).map(lambda path: [name for name in path.split("/") if name])
    below = paths.map(len) > depth
    named = inside.assign(
        child=[
            path[depth] if deeper else HERE if depth else NO_MODULE
            for path, deeper in zip(paths, below, strict=True)
        ],
        path=[
            "/".join(path[: depth + 1]) if deeper else None
            for path, deeper in zip(paths, below, strict=True)
        ],
    )
    summed = (
        named.groupby(["child", "path"], dropna=False, sort=False)
        .agg(
            base_ns=("base_ns", "sum"),
            other_ns=("other_ns", "sum"),
            change_ns=("change_ns", "sum"),
            rows=("row_id", "size"),
        )
        .reset_index()
    )
    percent = 100 * summed["change_ns"] / summed["base_ns"].where(summed["base_ns"] != 0)
    summed.insert(5, "change_percent", percent)
    return summed.sort_values("change_ns", key=abs, ascending=False, ignore_index=True)


def levels(module: str) -> list[str]:
    """The module and those around it, outermost first."""
    names = [name for name in module.split("/") if name]
    return ["/".join(names[: place + 1]) for place in range(len(names))]


def statuses_of(frame: pd.DataFrame) -> list[str]:
    """The statuses that occur, in the one order."""
    found = set(frame["status"])
    return [status for status in STATUSES if status in found]

"""The metrics of a comparison's two sides."""

import re
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any

import duckdb

from ingest.comparison.rank_test import SIGNIFICANT, rank_test
from ingest.comparison.sides import Side
from ingest.sql import literal

QUERY = """
    SELECT metric AS name, unit, base, other, change, percent, is_part,
        base_values, other_values, base_spread, other_spread
    FROM group_diff($bases, $others, $rank)
    ORDER BY ordinal
"""


@dataclass(frozen=True)
class Metric:
    """A row of `group_diff`: a metric's value on both sides. A group's value is its median.

    Times are in ns and memory is in bytes, for each run's median step. `is_part`: the metric is one
    of the parts that add up to the wall time, if each side has one run. `base_values` and
    `other_values` are the values of the runs, in the order of `Side.runs`. A spread is the median
    distance from the median. `p` is the p-value of the rank test, None if a run lacks the metric.
    Spreads and `p` are None if each side has one run.
    """

    name: str
    unit: str
    base: float | None
    other: float | None
    change: float | None
    percent: float | None
    is_part: bool
    base_values: list[float | None]
    other_values: list[float | None]
    base_spread: float | None
    other_spread: float | None
    p: float | None

    @property
    def as_amount(self) -> "Metric":
        """The metric for conditions: `overlap`, a negative part, becomes a positive time."""
        if self.name != "overlap":
            return self
        return replace(
            self,
            base=_negative(self.base),
            other=_negative(self.other),
            change=_negative(self.change),
            percent=_negative(self.percent),
            base_values=list(map(_negative, self.base_values)),
            other_values=list(map(_negative, self.other_values)),
        )

    @property
    def is_significant(self) -> bool:
        """Whether p is below `SIGNIFICANT`."""
        return self.p is not None and self.p < SIGNIFICANT


def metrics_of(
    connection: duckdb.DuckDBPyConnection, base: Side, other: Side, rank: int | None
) -> list[Metric]:
    """Return the metrics in display order, for a rank or, if None, for each run's default one."""
    rows = connection.sql(QUERY, params=_params(base, other, rank)).to_arrow_table().to_pylist()
    return [Metric(**row, p=_p(row["base_values"], row["other_values"])) for row in rows]


def sql_of(base: Side, other: Side, rank: int | None) -> str:
    """Return the query of the metrics, with literals for its parameters."""
    params = _params(base, other, rank)
    return dedent(re.sub(r"\$(\w+)", lambda found: literal(params[found[1]]), QUERY)).strip()


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def _params(base: Side, other: Side, rank: int | None) -> dict[str, Any]:
    return {"bases": base.runs, "others": other.runs, "rank": rank}


def _p(base: list[float | None], other: list[float | None]) -> float | None:
    of_base = [value for value in base if value is not None]
    of_other = [value for value in other if value is not None]
    known = len(of_base) == len(base) and len(of_other) == len(other)
    return rank_test(of_base, of_other) if known and len(base) + len(other) > 2 else None

"""The metrics of two sides, of one run each or of several."""

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
    """A metric of `group_diff`: of one run a side its value, of several their median.

    Times are ns and memory bytes, of each run's median step. `is_part`: one of those that add up to
    the wall time, of one run a side. `base_values` and `other_values` are those of each run, in the
    order of `Side.runs`; a spread is the median distance from the median; `p` is that of the rank
    test, null where a run does not know the metric. Spreads and `p` are null for one run a side.
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
        """The metric as conditions read it: `overlap`, a negative part, becomes a time."""
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
        """Whether chance alone would seldom rank the runs so."""
        return self.p is not None and self.p < SIGNIFICANT


def metrics_of(
    connection: duckdb.DuckDBPyConnection, base: Side, other: Side, rank: int | None
) -> list[Metric]:
    """The metrics of a rank, else of each run's slowest, in the order in which to show them."""
    rows = connection.sql(QUERY, params=_params(base, other, rank)).to_arrow_table().to_pylist()
    return [Metric(**row, p=_p(row["base_values"], row["other_values"])) for row in rows]


def sql_of(base: Side, other: Side, rank: int | None) -> str:
    """The query of the metrics with its parameters as literals."""
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

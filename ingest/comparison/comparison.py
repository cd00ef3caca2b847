"""The comparison of two runs, or of two groups of runs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import duckdb

from ingest.comparison.caveats import Caveat, caveats
from ingest.comparison.metrics import Metric, metrics_of, sql_of
from ingest.comparison.rank_test import SIGNIFICANT, least_p
from ingest.comparison.sides import Side, side_of
from ingest.errors import MissingError


@dataclass(frozen=True)
class Comparison:
    """The metrics of two sides, with warnings about what makes the sides hard to compare.

    `rank` is the compared rank; None if each run's default rank is compared.
    """

    base: Side
    other: Side
    rank: int | None
    metrics: list[Metric]
    warnings: list[Caveat]

    @property
    def has_groups(self) -> bool:
        """Whether a side has several runs."""
        return self.base.is_group or self.other.is_group

    @property
    def is_mixed(self) -> bool:
        """Whether device time is compared with host time."""
        return self.base.measure != self.other.measure

    @property
    def unlike(self) -> str | None:
        """The reason why the sides cannot be compared by ratios; None if they can."""
        if self.is_mixed:
            return "one side has device time and the other host time"
        if (self.base.steps_from == "run") != (self.other.steps_from == "run"):
            return "one side has a step and the other a complete recording"
        return None

    @property
    def has_too_few(self) -> bool:
        """Whether there are too few runs for the rank test to find any change significant."""
        return least_p(len(self.base.runs), len(self.other.runs)) >= SIGNIFICANT

    @property
    def sql(self) -> str:
        """The query of the metrics, with literals for parameters, so that it runs anywhere."""
        return sql_of(self.base, self.other, self.rank)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as nested dicts and lists."""
        return asdict(self)


def compare(
    connection: duckdb.DuckDBPyConnection,
    base: Sequence[str],
    other: Sequence[str],
    rank: int | None = None,
    names: tuple[str, str] = ("BASE", "OTHER"),
) -> Comparison:
    """Compare the runs `other` with the runs `base`, given by id.

    `rank` selects a rank; None compares each run's default rank. `names` are the names of the
    sides in warnings. A run of a group without that rank, or without any times, is left out, with
    a warning. Raise MissingError if a side has no run left, or if a run is on both sides.
    """
    if both := sorted({*base} & {*other}):
        raise MissingError(f"{both[0]} is on both sides; a run cannot be compared with itself")
    base_side, of_base = side_of(connection, base, rank)
    other_side, of_other = side_of(connection, other, rank)
    warnings = [Caveat("runs", None, None, text) for text in of_base + of_other]
    warnings += caveats(connection, base_side, other_side, names)
    metrics = metrics_of(connection, base_side, other_side, rank)
    comparison = Comparison(base_side, other_side, rank, metrics, warnings)
    if not comparison.unlike:
        return comparison
    return replace(comparison, metrics=[replace(metric, percent=None) for metric in metrics])

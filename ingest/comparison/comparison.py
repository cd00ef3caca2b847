"""Two runs, or two groups of runs, side by side."""

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
    """The metrics of two sides, and what to heed beside them.

    `rank` is the one asked for; null: of each run the slowest counts.
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
        """Whether time of a device stands against time of a host."""
        return self.base.measure != self.other.measure

    @property
    def unlike(self) -> str | None:
        """What makes the sides too different to divide their metrics; null where nothing does."""
        if self.is_mixed:
            return "of a device on one side and of a host on the other"
        if (self.base.steps_from == "run") != (self.other.steps_from == "run"):
            return "of a step on one side and of a whole recording on the other"
        return None

    @property
    def has_too_few(self) -> bool:
        """Whether no metrics of so few runs could be told from chance by the rank test."""
        return least_p(len(self.base.runs), len(self.other.runs)) >= SIGNIFICANT

    @property
    def sql(self) -> str:
        """The query of the metrics, to be read and run elsewhere."""
        return sql_of(self.base, self.other, self.rank)

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON can say it."""
        return asdict(self)


def compare(
    connection: duckdb.DuckDBPyConnection,
    base: Sequence[str],
    other: Sequence[str],
    rank: int | None = None,
    names: tuple[str, str] = ("BASE", "OTHER"),
) -> Comparison:
    """The runs `other` against the runs `base`, by id; of one rank, or of each run's slowest.

    `names` are those of the sides in warnings.
    A run of a group that has no such rank, or no times at all, is left out, with a warning. Raises
    MissingError where a side has no other, or a run is on both.
    """
    if both := sorted({*base} & {*other}):
        raise MissingError(f"{both[0]}: is on both sides, and a run does not differ from itself")
    base_side, of_base = side_of(connection, base, rank)
    other_side, of_other = side_of(connection, other, rank)
    warnings = [Caveat("runs", None, None, said) for said in of_base + of_other]
    warnings += caveats(connection, base_side, other_side, names)
    metrics = metrics_of(connection, base_side, other_side, rank)
    comparison = Comparison(base_side, other_side, rank, metrics, warnings)
    if not comparison.unlike:
        return comparison
    return replace(comparison, metrics=[replace(metric, percent=None) for metric in metrics])

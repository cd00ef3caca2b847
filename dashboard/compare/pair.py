"""The two sides of page Compare."""

from dataclasses import dataclass

import ingest
from ingest.server import Scalar

BASE, OTHER = "base", "other"


@dataclass(frozen=True)
class Pair:
    """Two runs to compare. For groups, these are the runs with the median wall times.

    rank         the rank of both runs; None for the default rank of each
    nth_step     the number of the measured step of each, from 1; None for the median step of each
    groups       the comparison of all runs of two groups
    group_names  the names of the two groups
    """

    base: str
    other: str
    rank: int | None
    nth_step: int | None = None
    groups: ingest.Comparison | None = None
    group_names: tuple[str, str] | None = None

    @property
    def of_rank(self) -> list[Scalar]:
        """The arguments of macros about all steps of the two runs."""
        return [self.base, self.other, self.rank]

    @property
    def arguments(self) -> list[Scalar]:
        """The arguments of macros that compare a step of each run."""
        return [*self.of_rank, self.nth_step]

    @property
    def step_name(self) -> str:
        """The name of the step that is compared."""
        return f"measured step {self.nth_step}" if self.nth_step else "median step"

    @property
    def runs(self) -> dict[str, str]:
        """The run of each side."""
        return {BASE: self.base, OTHER: self.other}

    @property
    def names(self) -> dict[str, str]:
        """The name of each side: its run, or its group."""
        if self.group_names is None:
            return self.runs
        return dict(zip(self.runs, self.group_names, strict=True))

    @property
    def all_runs(self) -> list[str]:
        """The runs of both sides."""
        if self.groups is None:
            return [self.base, self.other]
        return [*self.groups.base.runs, *self.groups.other.runs]

    @property
    def key(self) -> str:
        """The key of widgets whose state belongs to these two runs."""
        return f"{self.base}-{self.other}-{self.rank}-{self.nth_step}"

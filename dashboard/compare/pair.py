"""The two sides of page Compare."""

from dataclasses import dataclass

import ingest
from dashboard.query import Scalar

BASE, OTHER = "base", "other"


@dataclass(frozen=True)
class Pair:
    """Two runs, and the rank to look at; None for the slowest of each.

    `nth_step`: the first, second, … measured step of each; None for the median step of each. Of
    groups of runs, each side's run with the median wall time, the comparison of all of them, and
    what the sides are called.
    """

    base: str
    other: str
    rank: int | None
    nth_step: int | None = None
    groups: ingest.Comparison | None = None
    words: tuple[str, str] | None = None

    @property
    def of_rank(self) -> list[Scalar]:
        """The arguments of the macros that are about all steps of the two runs."""
        return [self.base, self.other, self.rank]

    @property
    def arguments(self) -> list[Scalar]:
        """Those of the macros that compare a step of each."""
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
        """What each side is called: its run, or its group."""
        return self.runs if self.words is None else dict(zip(self.runs, self.words, strict=True))

    @property
    def all_runs(self) -> list[str]:
        """The runs of both sides."""
        if self.groups is None:
            return [self.base, self.other]
        return [*self.groups.base.runs, *self.groups.other.runs]

    @property
    def key(self) -> str:
        """For widgets whose state belongs to these two runs."""
        return f"{self.base}-{self.other}-{self.rank}-{self.nth_step}"

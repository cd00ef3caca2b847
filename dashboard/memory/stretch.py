"""The part of a memory curve that is shown."""

from dataclasses import dataclass

import altair as alt

from dashboard.drawing import charts, formatting
from dashboard.widgets import zoom


@dataclass(frozen=True)
class Stretch:
    """A part of the axis: of time, in ns since the first action, or of order, in actions."""

    axis: str
    since: int
    until: int

    def scale(self) -> tuple[float, str]:
        """The divisor that makes readable figures of it, and the axis' title."""
        if self.axis == "order":
            return 1, "actions of the allocator"
        factor, unit = charts.duration_axis(self.until - self.since)
        return factor, f"time since the first action ({unit})"

    def described(self, whole: int) -> str:
        """Its length, its ends, and of how much it is."""
        if self.axis == "order":
            length = self.until - self.since
            return f"{length:,} actions from {self.since:,} to {self.until:,} of {whole:,}"
        return zoom.described(self.since, self.until, whole)

    def name(self, position: float, ordinal: int) -> str:
        """A moment in it, as tooltips say it."""
        if self.axis == "order":
            return f"action {ordinal:,}"
        return f"{formatting.position(int(position), self.until - self.since)}, action {ordinal:,}"

    def shown(self, factor: float) -> alt.Scale:
        """The axis' scale."""
        domain = [self.since / factor, self.until / factor]
        return alt.Scale(domain=domain, nice=False, padding=0)

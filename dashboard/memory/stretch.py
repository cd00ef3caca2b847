"""The part of a memory curve that the page shows."""

from dataclasses import dataclass

import altair as alt

from dashboard.drawing import charts, formatting
from dashboard.widgets import zoom


@dataclass(frozen=True)
class Stretch:
    """A range of the axis: in ns since the first action (`time`), or in actions (`order`)."""

    axis: str
    since: int
    until: int

    def scale(self) -> tuple[float, str]:
        """Return the divisor from positions to axis values, and the axis title."""
        if self.axis == "order":
            return 1, "allocator actions"
        factor, unit = charts.duration_axis(self.until - self.since)
        return factor, f"time since the first action ({unit})"

    def described(self, whole: int) -> str:
        """Return its length, its start and end, and the length of the whole axis, as a text."""
        if self.axis == "order":
            length = self.until - self.since
            return f"{length:,} actions from {self.since:,} to {self.until:,} of {whole:,}"
        return zoom.described(self.since, self.until, whole)

    def name(self, position: float, ordinal: int) -> str:
        """Return the tooltip text for a moment."""
        if self.axis == "order":
            return f"action {ordinal:,}"
        return f"{formatting.position(int(position), self.until - self.since)}, action {ordinal:,}"

    def shown(self, factor: float) -> alt.Scale:
        """Return the scale of the axis."""
        domain = [self.since / factor, self.until / factor]
        return alt.Scale(domain=domain, nice=False, padding=0)

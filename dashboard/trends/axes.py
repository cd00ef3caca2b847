"""The axes of the charts of page Trends: run number or time, and values, linear or logarithmic."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.drawing import charts

SIDE = 64  # pixels left of each chart, for the labels of values: it aligns the charts
# How the axis of time writes a moment, by how long the axis is at least.
MOMENTS = (
    (pd.Timedelta(days=3), "%Y-%m-%d"),
    (pd.Timedelta(minutes=10), "%m-%d %H:%M"),
    (pd.Timedelta(0), "%H:%M:%S"),
)
LOG_TICKS = ((1,), (1, 2, 5), range(1, 10))  # times powers of ten: the first that suffices
FEWEST_TICKS = 3

Channel = dict[str, Any]  # of Vega-Lite


@dataclass(frozen=True)
class Look:
    """How a chart is drawn.

    `between`: the ends of the axis of time; None where the x axis is the run number. `at`: the run
    whose card is open. `factor`: what values are divided by, to be in `unit`.
    """

    is_log: bool
    between: tuple[pd.Timestamp, pd.Timestamp] | None
    at: str | None
    picked: frozenset[str]
    is_small: bool
    factor: float = 1.0
    unit: str = ""


def unit_of(most: float, unit: str) -> tuple[float, str]:
    """The divisor and the unit that suit values up to `most`."""
    if unit == "ns":
        return charts.duration_axis(most)
    return charts.size_axis(most) if unit == "bytes" else (1.0, "")


def x(numbers: tuple[int, int], look: Look) -> Channel:
    """Run numbers from the first to the last of `numbers`, or time. The field is `x`."""
    if look.between is None:
        return {
            "field": "x",
            "type": "quantitative",
            "title": None,
            "axis": {"format": "d", "tickMinStep": 1, "tickCount": 5},
            "scale": {"domain": [numbers[0] - 0.5, numbers[1] + 0.5], "nice": False, "zero": False},
        }
    span = look.between[1] - look.between[0]
    return {
        "field": "x",
        "type": "temporal",
        "title": None,
        "axis": {
            "format": next(text for least, text in MOMENTS if span >= least),
            "labelOverlap": True,
            "tickCount": 3 if look.is_small else 6,
        },
        "scale": {"type": "utc", "domain": [*map(utc, look.between)], "nice": False},
    }


def y(values: pd.Series, look: Look, has_change: bool) -> Channel:
    """From the lowest to the highest, and at least as wide that noise does not look like change.

    Above the highest there is room for the text of a change. The field is `value`.
    """
    low, high = float(values.min()), float(values.max())
    axis: dict[str, Any] = {"tickCount": 4}
    room = 0.25 if has_change else 0.05
    if look.is_log:
        ends = [low / 1.05, max(high * 1.05, high * (high / low) ** room)]
        scale = {"type": "log", "domain": ends, "nice": False}
        if ticks := _log_ticks(*ends):
            axis["values"] = ticks
    else:
        least = 0.05 * max(abs(low), abs(high))
        margin = max(0.05 * (high - low), least) or 1.0
        bottom = low - margin if low < 0 else max(0.0, low - margin)
        scale = {"domain": [bottom, high + max(margin, room * (high - low))], "nice": False}
    axis |= {
        "minExtent": SIDE,
        "maxExtent": SIDE,
        "format": ",.4~r",
        "labelExpr": f"datum.label + ' {look.unit}'",
        "labelOverlap": True,
    }
    return {"field": "value", "type": "quantitative", "title": None, "scale": scale, "axis": axis}


def _log_ticks(low: float, high: float) -> list[float]:
    """Round numbers between these; none where they are so close that Vega's own are better."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in LOG_TICKS:
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        within = [tick for tick in ticks if low <= tick <= high]
        if len(within) >= FEWEST_TICKS:
            return within
    return []


def utc(moment: pd.Timestamp) -> str:
    """A moment as Vega reads it."""
    return f"{moment.isoformat()}Z"

"""The axes of the charts on page Trends: run number or time, and linear or logarithmic values."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.drawing import charts

SIDE = 64  # pixels left of each chart for the labels of the y axis, the same to align the charts
# Time formats of the x axis: the first one whose minimum length the axis has.
TIME_FORMATS = (
    (pd.Timedelta(days=3), "%Y-%m-%d"),
    (pd.Timedelta(minutes=10), "%m-%d %H:%M"),
    (pd.Timedelta(0), "%H:%M:%S"),
)
# Multiples of powers of ten: the first set that yields enough ticks.
LOG_TICKS = ((1,), (1, 2, 5), range(1, 10))
FEWEST_TICKS = 3

Channel = dict[str, Any]  # an encoding channel of Vega-Lite


@dataclass(frozen=True)
class ChartStyle:
    """The style of a chart.

    `between` holds the ends of the time axis, or None if the x axis is the run number. `at` is the
    run whose card is open. Values divided by `factor` are in `unit`.
    """

    is_log: bool
    between: tuple[pd.Timestamp, pd.Timestamp] | None
    at: str | None
    picked: frozenset[str]
    is_small: bool
    factor: float = 1.0
    unit: str = ""


def unit_of(most: float, unit: str) -> tuple[float, str]:
    """Return the divisor and the unit for values up to `most`."""
    if unit == "ns":
        return charts.duration_axis(most)
    return charts.size_axis(most) if unit == "bytes" else (1.0, "")


def x(numbers: tuple[int, int], style: ChartStyle) -> Channel:
    """Return the x channel: run numbers from the first to the last of `numbers`, or time."""
    if style.between is None:
        return {
            "field": "x",
            "type": "quantitative",
            "title": None,
            "axis": {"format": "d", "tickMinStep": 1, "tickCount": 5},
            "scale": {"domain": [numbers[0] - 0.5, numbers[1] + 0.5], "nice": False, "zero": False},
        }
    span = style.between[1] - style.between[0]
    return {
        "field": "x",
        "type": "temporal",
        "title": None,
        "axis": {
            "format": next(text for least, text in TIME_FORMATS if span >= least),
            "labelOverlap": True,
            "tickCount": 3 if style.is_small else 6,
        },
        "scale": {"type": "utc", "domain": [*map(utc, style.between)], "nice": False},
    }


def y(values: pd.Series, style: ChartStyle, has_change: bool) -> Channel:
    """Return the y channel, from the lowest value to the highest. The field is `value`.

    The range is wide enough that noise does not look like a change. If there is a change, the
    range leaves space for its label above the highest value.
    """
    low, high = float(values.min()), float(values.max())
    axis: dict[str, Any] = {"tickCount": 4}
    headroom = 0.25 if has_change else 0.05
    if style.is_log:
        ends = [low / 1.05, max(high * 1.05, high * (high / low) ** headroom)]
        scale = {"type": "log", "domain": ends, "nice": False}
        if ticks := _log_ticks(*ends):
            axis["values"] = ticks
    else:
        least = 0.05 * max(abs(low), abs(high))
        margin = max(0.05 * (high - low), least) or 1.0
        bottom = low - margin if low < 0 else max(0.0, low - margin)
        scale = {"domain": [bottom, high + max(margin, headroom * (high - low))], "nice": False}
    axis |= {
        "minExtent": SIDE,
        "maxExtent": SIDE,
        "format": ",.4~r",
        "labelExpr": f"datum.label + ' {style.unit}'",
        "labelOverlap": True,
    }
    return {"field": "value", "type": "quantitative", "title": None, "scale": scale, "axis": axis}


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between these, or none if too few fit: Vega then chooses the ticks."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in LOG_TICKS:
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        within = [tick for tick in ticks if low <= tick <= high]
        if len(within) >= FEWEST_TICKS:
            return within
    return []


def utc(time: pd.Timestamp) -> str:
    """Return a UTC time in the format that Vega reads."""
    return f"{time.isoformat()}Z"

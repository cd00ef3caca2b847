"""The axes of the charts on page Trends: run number or time, and linear or logarithmic values."""

import math
from dataclasses import dataclass

import pandas as pd

from dashboard.drawing import charts

TICKS_X, FEW_TICKS_X, TICKS_Y = 6, 3, 4
# Frequencies of ticks on a time axis, and the time between two. The first that yields few enough
# ticks is used.
FREQUENCIES = {
    f"{number}{unit}": number * length
    for unit, length, numbers in (
        ("s", pd.Timedelta(seconds=1), (1, 2, 5, 10, 15, 30)),
        ("min", pd.Timedelta(minutes=1), (1, 2, 5, 10, 15, 30)),
        ("h", pd.Timedelta(hours=1), (1, 2, 3, 6, 12)),
        ("D", pd.Timedelta(days=1), (1, 2, 4, 7, 14)),
        ("MS", pd.Timedelta(days=31), (1, 2, 3, 6)),
        ("YS", pd.Timedelta(days=366), (1, 2, 5, 10, 20, 50, 100, 200)),
    )
    for number in numbers
}
# Time formats, each with the least distance of ticks. The first match is used.
TIME_FORMATS = (
    (pd.Timedelta(days=1), "%Y-%m-%d"),
    (pd.Timedelta(minutes=1), "%m-%d %H:%M"),
    (pd.Timedelta(0), "%H:%M:%S"),
)
# Multiples of powers of ten. The first set that yields enough ticks is used.
LOG_TICKS = ((1,), (1, 2, 5), range(1, 10))
MIN_TICKS = 3


@dataclass(frozen=True)
class Axis:
    """The ends of an axis, and the positions and texts of its ticks."""

    least: float
    most: float
    ticks: list[tuple[float, str]]
    is_log: bool = False


def of_numbers(first: int, last: int) -> Axis:
    """Return the x axis of run numbers."""
    ticks = charts.ticks(first, last, min(TICKS_X, last - first))
    return Axis(first - 0.5, last + 0.5, [(at, f"{at:,.0f}") for at in ticks])


def of_times(since: pd.Timestamp, until: pd.Timestamp, is_small: bool) -> Axis:
    """Return the x axis of UTC times."""
    most = FEW_TICKS_X if is_small else TICKS_X
    frequency, apart = next(
        each for each in FREQUENCIES.items() if (until - since) / each[1] <= most
    )
    written = next(text for least, text in TIME_FORMATS if apart >= least)
    ticks = pd.date_range(since.ceil(min(apart, pd.Timedelta(days=1))), until, freq=frequency)
    return Axis(
        milliseconds(since),
        milliseconds(until),
        [(milliseconds(at), f"{at:{written}}") for at in ticks],
    )


def milliseconds(time: pd.Timestamp) -> float:
    """Return the position of a UTC time on its axis."""
    return float(time.timestamp() * 1_000)


def of_values(values: pd.Series, unit: str, is_log: bool, has_change: bool) -> Axis:
    """Return the y axis, from the lowest value to the highest.

    The range is wide enough that noise does not look like a change. If there is a change, the
    range leaves space for its label above the highest value.
    """
    factor, shown_unit = _unit_of(values.abs().max(), unit)
    low, high = values.min() / factor, values.max() / factor
    headroom = 0.25 if has_change else 0.05
    if is_log:
        least, most = low / 1.05, max(high * 1.05, high * (high / low) ** headroom)
    else:
        margin = max(0.05 * (high - low), 0.05 * max(abs(low), abs(high))) or 1.0
        least = low - margin if low < 0 else max(0.0, low - margin)
        most = high + max(margin, headroom * (high - low))
    found = (_log_ticks(least, most) if is_log else []) or charts.ticks(least, most, TICKS_Y)
    ticks = [(at * factor, f"{at:,.10g} {shown_unit}".strip()) for at in found]
    return Axis(least * factor, most * factor, ticks, is_log)


def _unit_of(most: float, unit: str) -> tuple[float, str]:
    """Return the divisor and the unit for values up to `most`."""
    if unit == "ns":
        return charts.duration_axis(most)
    return charts.size_axis(most) if unit == "bytes" else (1.0, "")


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers in this range, or none if there are too few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in LOG_TICKS:
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        within = [tick for tick in ticks if low <= tick <= high]
        if len(within) >= MIN_TICKS:
            return within
    return []

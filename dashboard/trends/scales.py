"""The scales of the charts on page Trends: run number or time, and linear or logarithmic values."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.drawing import charts
from ingest.server import units

TICKS_X, FEW_TICKS_X, TICKS_Y = 6, 3, 4
# Distances of ticks on a time axis: lengths, then months. The first that yields few enough ticks
# is used.
LENGTHS = [
    *(pd.Timedelta(seconds=30 * number) for number in (1, 2, 4, 10, 20, 30, 60)),
    *(pd.Timedelta(hours=number) for number in (1, 2, 3, 6, 12)),
    *(pd.Timedelta(days=number) for number in (1, 2, 4, 7, 14)),
]
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400)
DAY, MONTH = pd.Timedelta(days=1), pd.Timedelta(days=30)
# Multiples of powers of ten. The first set that yields enough ticks is used.
LOG_TICKS = ((1,), (1, 2, 5), range(1, 10))
MIN_TICKS = 3


@dataclass(frozen=True)
class Scale:
    """The ends of an axis, and the positions and texts of its ticks."""

    least: float
    most: float
    ticks: list[tuple[float, str]]
    is_log: bool = False

    def sent(self) -> dict[str, Any]:
        """Return the scale for `series.js`."""
        return {
            "least": self.least,
            "most": self.most,
            "ticks": self.ticks,
            "isLog": self.is_log,
        }


def of_numbers(first: int, last: int) -> Scale:
    """Return the scale of run numbers."""
    ticks = charts.ticks(first, last, min(TICKS_X, last - first))
    return Scale(first - 0.5, last + 0.5, [(at, charts.tick_text(at)) for at in ticks])


def of_times(since: pd.Timestamp, until: pd.Timestamp, is_small: bool) -> Scale:
    """Return the scale of UTC times."""
    most = (until - since) / (FEW_TICKS_X if is_small else TICKS_X)
    length = next((each for each in LENGTHS if each >= most), None)
    if length is None:
        months = next((each for each in MONTHS if each * MONTH >= most), MONTHS[-1])
        firsts = pd.date_range(since.ceil(DAY), until, freq="MS")
        times = firsts[(12 * firsts.year + firsts.month - 1) % months == 0]
    else:
        times = pd.date_range(since.ceil(min(length, DAY)), until, freq=length)
    written = "%m-%d %H:%M" if length is not None and length < DAY else "%Y-%m-%d"
    ticks = [(milliseconds(at), f"{at:{written}}") for at in times]
    return Scale(milliseconds(since), milliseconds(until), ticks)


def milliseconds(time: pd.Timestamp) -> float:
    """Return the position of a UTC time on its axis."""
    return float(time.timestamp() * 1_000)


def of_values(values: pd.Series, unit: str, is_log: bool, has_change: bool) -> Scale:
    """Return the scale from the lowest value to the highest.

    The range is wide enough that noise does not look like a change. If there is a change, the
    range leaves space for its label above the highest value.
    """
    low, high = float(values.min()), float(values.max())
    headroom = 0.25 if has_change else 0.05
    if is_log:
        least, most = low / 1.05, max(high * 1.05, high * (high / low) ** headroom)
        ticks = _log_ticks(least, most, unit)
    else:
        smallest = _shown_unit(max(abs(low), abs(high)), unit)[0]  # if all values are 0
        margin = max(0.05 * (high - low), 0.05 * max(abs(low), abs(high))) or smallest
        least = low - margin if low < 0 else max(0.0, low - margin)
        most = high + max(margin, headroom * (high - low))
        ticks = []
    return Scale(least, most, ticks or _ticks(least, most, unit), is_log)


def _shown_unit(value: float, unit: str) -> tuple[float, str]:
    """Return the divisor and the unit in which a value is shown."""
    if unit == "ns":
        return charts.duration_axis(value)
    if unit == "percent":
        return 1.0, "%"
    if unit == "TFLO/s":
        return charts.operations_axis(value)
    return charts.size_axis(value) if unit == "bytes" else (1.0, "")


def _ticks(least: float, most: float, unit: str) -> list[tuple[float, str]]:
    """Return round values, all in the unit of the largest. Counts are whole."""
    factor, shown_unit = _shown_unit(max(abs(least), abs(most)), unit)
    found = charts.ticks(least / factor, most / factor, TICKS_Y)
    if unit == "count":
        found = sorted({float(round(at)) for at in found if least <= round(at) <= most})
    return [(at * factor, charts.tick_text(at, shown_unit)) for at in found]


def _log_ticks(least: float, most: float, unit: str) -> list[tuple[float, str]]:
    """Return round values, each in its own unit, or none if there are too few."""
    for digits in LOG_TICKS:
        found = sorted(
            digit * power
            for power in _powers(least, most, unit)
            for digit in digits
            if least <= digit * power <= most
        )
        if len(found) >= MIN_TICKS:
            shown = [(at, *_shown_unit(at, unit)) for at in found]
            return [(at, charts.tick_text(at / factor, text)) for at, factor, text in shown]
    return []


def _powers(least: float, most: float, unit: str) -> list[float]:
    """Return the powers of ten between two values. Those of sizes are of KiB, MiB and GiB."""
    if unit == "bytes":
        return [10.0**power * size for size in units.SIZES.values() for power in range(3)]
    lowest = max(1.0, least) if unit == "count" else least  # counts are whole
    powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(most)) + 1)
    return [10.0**power for power in powers]

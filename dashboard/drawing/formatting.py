"""Formatting of numbers and names on pages, based on `ingest.units`, and Markdown escaping."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from ingest.server import units

NONE = units.UNKNOWN
# Units of ages: name, length in s, and the number from which the next unit is used.
AGES = (("s", 1, 60), ("min", 60, 90), ("h", 3_600, 36), ("days", 86_400, 100))
MAX_SKEW_S = 60  # of the clocks of machines: a start later than this is in the future
NAME_WIDTH = units.NAME_WIDTH

# Streamlit replaces these with icons and arrows even if they are escaped.
SUBSTITUTED = re.compile(r":(?=material/|streamlit:)|(?<!\S)[<>~-](?=(?:->|[->=])(?!\S))")
WORD_JOINER = "\u2060"  # invisible, without width

percent, count, counted, times = units.percent, units.count, units.counted, units.times
percent_change = units.percent_change
rate, operations = units.rate, units.operations
operation_rate, bandwidth, shapes = units.operation_rate, units.bandwidth, units.shapes
mean_count, three_digits, address = units.mean_count, units.three_digits, units.address
position, moment, difference = units.position, units.moment, units.difference
clipped, middle_out = units.clipped, units.middle_out
short_name, short_names, short_paths = units.short_name, units.short_names, units.short_paths


def missing(value: Any) -> bool:
    """Return whether a table cell is empty: None, NaN, NaT or NA."""
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and math.isnan(value))
    )


def duration(ns: float | None) -> str:
    """Format a time in µs, ms or s: 1.23 ms."""
    return units.duration(ns, smallest="µs")


def size(count: float | None) -> str:
    """Format bytes like torch: 2.00 MiB; less than 1 KiB as a number of bytes."""
    return units.size(count, ones="bytes")


def size_per_second(count: float | None) -> str:
    """Format bytes per second: 2.00 MiB/s."""
    return NONE if missing(count) else f"{size(count)}/s"


def operations_per_second(count: float | None) -> str:
    """Format floating-point operations per second: 15.5 GFLOPS."""
    return NONE if missing(count) else f"{operations(count)}PS"


def age(moment: datetime) -> str:
    """Format how long ago a UTC time was: 3 h ago; the date if it is 100 days or in the future."""
    seconds = (datetime.now(UTC).replace(tzinfo=None) - moment).total_seconds()
    for unit, length, most in AGES:
        if -MAX_SKEW_S < seconds < most * length:
            return "now" if unit == "s" else f"{max(1, round(seconds / length))} {unit} ago"
    return f"{moment:%Y-%m-%d}"


def change(value: float | None, written: Callable[[float | None], str] = duration) -> str:
    """Format a difference, by default of times, with its sign: +1.23 ms."""
    return units.change(value, written)


def literal(text: str) -> str:
    """Escape text for Markdown, so that it is shown unchanged."""
    text = SUBSTITUTED.sub(lambda found: found[0] + WORD_JOINER, " ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:&])", r"\\\1", text)

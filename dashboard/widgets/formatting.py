"""How pages write numbers and names: by the rules of `ingest.units`, and safe in Markdown."""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from ingest import units

NONE = units.UNKNOWN
NAME_WIDTH = units.NAME_WIDTH

# Streamlit puts icons and arrows in the place of these even where they are escaped.
SUBSTITUTED = re.compile(r":(?=material/|streamlit:)|(?<!\S)[<>~-](?=(?:->|[->=])(?!\S))")
WORD_JOINER = "\u2060"  # no shape and no width

percent, count, counted = units.percent, units.count, units.counted
per_step, three_digits, address = units.per_step, units.three_digits, units.address
position, moment = units.position, units.moment
clipped, middle_out = units.clipped, units.middle_out
short_name, short_names, short_paths = units.short_name, units.short_names, units.short_paths


def missing(value: Any) -> bool:
    """Whether a table's cell holds nothing: None, NaN, NaT or NA."""
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and math.isnan(value))
    )


def duration(ns: float | None) -> str:
    """A time in µs, ms or s: 1.23 ms."""
    return units.duration(ns, smallest="µs")


def size(count: float | None) -> str:
    """Bytes as torch prints them: 2.00 MiB; those below a KiB in full."""
    return units.size(count, ones="bytes")


def change(value: float | None, written: Callable[[float | None], str] = duration) -> str:
    """A difference, by default of times, with its sign: +1.23 ms."""
    return units.change(value, written)


def top_line(rows: Iterable[tuple[str, float, float]]) -> str:
    """Names with their times, ns, and percentages as a line of Markdown."""
    parts = [
        f"{literal(short_name(name))} **{duration(ns)}** ({percent(share)})"
        for name, ns, share in rows
    ]
    return f"Top {len(parts)}: " + " · ".join(parts)


def literal(text: str) -> str:
    """Text for a Markdown place, shown as it is."""
    text = SUBSTITUTED.sub(lambda found: found[0] + WORD_JOINER, " ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:&])", r"\\\1", text)

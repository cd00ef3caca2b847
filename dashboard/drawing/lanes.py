"""Boxes in lanes on one axis, such as time, and above them strips of shares; a drag zooms in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.drawing import component, formatting

HERE = Path(__file__).parent
NAME_WIDTH = 160  # characters of a name on hover
LANE_PIXELS = 24
SHARES = ["percent", "when", "text"]  # a strip's columns besides its places and colours
SIDE_PIXELS = 80  # for the names of the lanes


@dataclass(frozen=True)
class Axis:
    """The ends of what is shown, the places and texts of ticks, and a title."""

    since: float
    until: float
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""


@dataclass(frozen=True)
class Mark:
    """A line, or a text alone, across all lanes."""

    at: float
    text: str = ""
    is_line: bool = True


def draw(
    boxes: pd.DataFrame,
    lanes: Sequence[str],
    axis: Axis,
    *,
    key: str,
    alt: str,
    file: str = "",
    legend: Mapping[str, str] | None = None,
    details: Mapping[str, str] | None = None,
    strips: Mapping[str, pd.DataFrame] | None = None,
    shown: tuple[float, float] | None = None,
    marks: Sequence[Mark] = (),
    on_zoom: Callable[[int, int], None] | None = None,
    lane_pixels: int = LANE_PIXELS,
    side_pixels: int = SIDE_PIXELS,
) -> None:
    """The chart. A later row is drawn over an earlier one.

    `boxes`: lane (its place in `lanes`), start, end, colour, text (on hover), where given is_faint,
    label (written in the box where there is room), and the columns of `details`, which maps columns
    to their titles on hover. `strips`, by name, from the bottom of each stretch up: start, end,
    colour, percent, when and text (on hover). The stretch `shown` stands out. A drag calls
    `on_zoom` with the ends of a stretch. With a `file`, a button saves the chart as a PNG of that
    name, with the `legend`, which maps labels to colours.
    """
    strips = strips or {}
    frames = [boxes, *strips.values()]
    palette = list(dict.fromkeys(colour for frame in frames for colour in frame["colour"]))

    optional = [name for name in ("is_faint", "label") if name in boxes]
    named, places = _details(boxes, details or {})

    def zoomed() -> None:
        if on_zoom:
            on_zoom(*st.session_state[key]["zoomed"])

    component.load(HERE, "lanes", "lanes")(
        key=key,
        data={
            "alt": alt,
            "file": file,
            "legend": list((legend or {}).items()),
            "since": axis.since,
            "until": axis.until,
            "ticks": [{"at": at, "text": text} for at, text in axis.ticks],
            "title": axis.title,
            "palette": palette,
            "strips": [
                {"name": name, **_columns(strip, palette, SHARES)} for name, strip in strips.items()
            ],
            "shown": shown,
            "lanes": list(lanes),
            "boxes": _columns(boxes, palette, ["lane", "text", *optional]),
            "details": named,
            "hoverNames": [formatting.short_name(name, NAME_WIDTH) for name in places],
            "marks": [{"at": each.at, "text": each.text, "isLine": each.is_line} for each in marks],
            "lanePixels": lane_pixels,
            "sidePixels": side_pixels,
            "zooms": on_zoom is not None,
        },
        on_zoomed_change=zoomed,
    )


def _columns(frame: pd.DataFrame, palette: list[str], names: list[str]) -> dict[str, list[Any]]:
    place_of = {colour: place for place, colour in enumerate(palette)}
    columns = {name: frame[name].tolist() for name in ("start", "end", *names)}
    return {**columns, "colour": frame["colour"].map(place_of).tolist()}


def _details(
    boxes: pd.DataFrame, titles: Mapping[str, str]
) -> tuple[dict[str, list[int]], list[str]]:
    """For each title the boxes' names, as places in the list of all names: most occur often."""
    places: dict[str, int] = {}
    details = {
        title: [
            -1 if formatting.missing(name) else places.setdefault(str(name), len(places))
            for name in boxes[column]
        ]
        for column, title in titles.items()
        if column in boxes
    }
    return details, list(places)

"""A chart of boxes in lanes on a common axis, with strips of percentages above. A drag zooms in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.drawing import component, formatting

HERE = Path(__file__).parent
NAME_WIDTH = 160  # characters of a name in tooltips
LANE_PIXELS = 24
SHARES = ["percent", "when", "text"]  # columns of a strip in addition to start, end and colour
SIDE_PIXELS = 80  # left of the chart, for the names of the lanes


@dataclass(frozen=True)
class Axis:
    """The visible range, the positions and texts of ticks, and the title."""

    since: float
    until: float
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""


@dataclass(frozen=True)
class Mark:
    """A line across all lanes with a text, or only a text."""

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
    is_flat: bool = False,
) -> None:
    """Draw the chart. Later rows are drawn over earlier ones.

    boxes    lane (index in `lanes`), start, end, colour, text (tooltip), the columns of `details`,
             and optionally is_faint and label (written in the box if it is wide enough)
    file     the name of the PNG file that a button saves; without one, there is no button
    legend   colours by label, for the PNG
    details  titles in tooltips, by column
    strips   strips by name, each from the bottom up: start, end, colour, percent, when, text
             (tooltip)
    shown    a range to highlight
    on_zoom  called with the ends of a range after a drag
    is_flat  whether several strips take as little height as they can
    """
    strips = strips or {}
    frames = [boxes, *strips.values()]
    palette = list(dict.fromkeys(colour for frame in frames for colour in frame["colour"]))

    optional = [name for name in ("is_faint", "label") if name in boxes]
    details_of_boxes, names = _details(boxes, details or {})

    def zoomed() -> None:
        if on_zoom:
            on_zoom(*component.state(key)["zoomed"])

    component.load(HERE, "lanes", "lanes").draw(
        key,
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
            "details": details_of_boxes,
            "hoverNames": [formatting.short_name(name, NAME_WIDTH) for name in names],
            "marks": [{"at": each.at, "text": each.text, "isLine": each.is_line} for each in marks],
            "lanePixels": lane_pixels,
            "sidePixels": side_pixels,
            "isFlat": is_flat,
            "zooms": on_zoom is not None,
        },
        on_zoomed_change=zoomed,
    )


def _columns(frame: pd.DataFrame, palette: list[str], names: list[str]) -> dict[str, list[Any]]:
    index_of = {colour: index for index, colour in enumerate(palette)}
    columns = {name: frame[name].tolist() for name in ("start", "end", *names)}
    return {**columns, "colour": frame["colour"].map(index_of).tolist()}


def _details(
    boxes: pd.DataFrame, titles: Mapping[str, str]
) -> tuple[dict[str, list[int]], list[str]]:
    """Return for each title the boxes' names as indices into a list of names, and that list.

    Indices are shorter, because most names occur often. A missing name is -1.
    """
    index_of: dict[str, int] = {}
    details = {
        title: [
            -1 if formatting.missing(name) else index_of.setdefault(str(name), len(index_of))
            for name in boxes[column]
        ]
        for column, title in titles.items()
        if column in boxes
    }
    return details, list(index_of)

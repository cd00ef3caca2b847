"""Tables of view rows: figures with units, right-aligned; names short, whole on click."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import Query
from dashboard.widgets import colours, formatting

COUNTS = {
    *("calls", "activities", "bubbles", "events", "complete_events", "sources", "problems"),
    *("ranks", "devices", "registers", "allocations", "segments", "actions", "alloc_ordinal"),
    *("recompiles", "free_ordinal", "base_allocations", "other_allocations"),
}
RATES = {"calls_per_step", "base_calls", "other_calls", "base_kernels", "other_kernels"}
RATES |= {"kernels_saved", "base_launches", "other_launches", "launches_saved"}
CHANGES: dict[str, Callable[[Any], str]] = {
    "change_ns": formatting.change,
    "change_percent": partial(formatting.change, written=formatting.percent),
}
NAMES = {"name", "op", "kernel", "before_kernel", "after_kernel", "host_op", "host_frame", "module"}
NAME_PIXELS = 230
FIGURE_PIXELS = 78
MOMENT_PIXELS = 140
PIXELS = {
    "events": 125,
    "complete_events": 125,
    "peak_bytes": 100,
    "warnings": 500,
}  # of headings and texts that need more
LONGEST = 4_000  # characters of a cell that a browser gets; downloads have all of them
TALL = 14  # rows that a table shows before it scrolls
TALL_PIXELS = 526
NS_PER_MS = 1e6
LABELS = {
    "device_ns": "device time",
    "self_ns": "self",
    "total_ns": "total",
    "dur_ns": "duration",
    "bubble_ns": "lost",
    "bubbles": "gaps",
    "busy_ns": "busy",
    "span_ns": "span",
    "percent": "%",
    "bubble_percent": "bubble",
    "device_name": "device",
    "shared_bytes": "shared memory",
    "peak_bytes": "peak memory",
}


def unit_of(column: str) -> Callable[[Any], str] | None:
    """How a column's values are written, by its name; None: as they are."""
    if column.endswith("_at"):
        return formatting.moment
    if column in CHANGES:
        return CHANGES[column]
    if column.endswith("_ns"):
        return formatting.duration
    if column == "bytes" or column.endswith("_bytes"):
        return formatting.size
    if column.endswith("percent"):
        return formatting.percent
    if column in COUNTS:
        return formatting.count
    if column in RATES:
        return formatting.per_step
    if column.endswith("_from_to"):
        return str
    return None


def label(column: str) -> str:
    """The heading of a column."""
    return LABELS.get(column, column.removesuffix("_ns").replace("_", " "))


def height(rows: int) -> int | Literal["auto"]:
    """A table's height: as its rows need, or so many that it scrolls."""
    return TALL_PIXELS if rows > TALL else "auto"


def clipped(frame: pd.DataFrame, longest: int = LONGEST) -> pd.DataFrame:
    """The frame with the beginning of long texts."""
    texts = frame.select_dtypes(["object", "string"])
    return frame.assign(**{name: texts[name].map(partial(_clip, longest)) for name in texts})


def _clip(longest: int, value: Any) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return value[:longest] + "…"
    if isinstance(value, list):
        return [_clip(longest, item) for item in value]
    return value


def _width(column: str, is_figure: bool) -> int | None:
    if column in PIXELS:
        return PIXELS[column]
    if column in NAMES:
        return NAME_PIXELS
    if column.endswith("_at"):
        return MOMENT_PIXELS
    return FIGURE_PIXELS if is_figure else None


def show(
    frame: pd.DataFrame,
    view: str,
    *,
    key: str,
    hidden: Sequence[str] = (),
    labels: dict[str, str] | None = None,
    widths: dict[str, int] | None = None,
    bars: Sequence[str] = (),
    sparklines: Sequence[str] = (),
    ages: Sequence[str] = (),
    select: Literal["single-row", "multi-row"] | None = None,
    selected: Sequence[int] | None = None,
    on_select: Callable[[], None] | None = None,
) -> list[int]:
    """A table of a view's rows; the positions of those selected.

    Headings explain themselves on hover with the view's own comments. `bars` are percentages with a
    bar in each cell, `sparklines` lists of times, `ages` moments written as how long ago they were.
    `select` is a selection mode of st.dataframe, `selected` the rows that are selected at first,
    `on_select` is called before the page is drawn again.
    """
    frame = clipped(frame.drop(columns=list(hidden)))
    written: dict[str, Any] = {}
    config: dict[str, Any] = {}
    comments = data.column_comments(view)
    for column in frame.columns:
        unit = unit_of(column)
        heading: dict[str, Any] = {
            "label": (labels or {}).get(column) or label(column),
            "help": formatting.literal(comments.get(column, "")) or None,
            "width": (widths or {}).get(column) or _width(column, unit is not None),
        }
        if column in bars:
            config[column] = st.column_config.ProgressColumn(
                **heading, format="%.1f%%", max_value=100, color=colours.BUSY[0]
            )
            continue
        if column in sparklines:
            frame[column] = frame[column].map(_in_ms)
            heading["help"] = f"{heading['help']} Drawn in ms; a single one is not drawn."
            config[column] = st.column_config.BarChartColumn(**heading, y_min=0, color=colours.GREY)
            continue
        if column in ages:
            config[column] = st.column_config.DatetimeColumn(**heading, format="distance")
            continue
        if column in NAMES:
            written[column] = formatting.short_name
        elif unit:
            written[column] = unit
        config[column] = st.column_config.Column(**heading, alignment="right" if unit else None)
    options: dict[str, Any] = {"placeholder": formatting.NONE, "height": height(len(frame))}
    if selected is not None and select is not None:
        options["selection_default"] = {"selection": {"rows": list(selected)}}
    styled = frame.style.format(written, na_rep=formatting.NONE)
    if select is None:
        st.dataframe(styled, hide_index=True, column_config=config, key=key, **options)
        return []
    event = st.dataframe(
        styled,
        hide_index=True,
        column_config=config,
        key=key,
        on_select=on_select or "rerun",
        selection_mode=select,
        **options,
    )
    return [row for row in event.selection.rows if row < len(frame)]


def _in_ms(times_ns: Sequence[int] | None) -> list[float] | None:
    """What a chart's cell shows; nothing of a single time, whose bar would always be full."""
    if times_ns is None or formatting.missing(times_ns) or len(times_ns) == 1:
        return None
    return [round(ns / NS_PER_MS, 3) for ns in times_ns]


def downloads(query: Query, name: str, key: str) -> None:
    """Buttons that fetch all rows of a query, with whole names and plain numbers."""
    fetch = data.later(query)
    formats: dict[str, Callable[[], Any]] = {
        "csv": lambda: fetch().to_csv(index=False).encode(),
        "parquet": lambda: fetch().to_parquet(index=False),
    }
    download_buttons(formats, name, key)


def download_buttons(formats: dict[str, Callable[[], Any]], name: str, key: str) -> None:
    """A button for each format; the file is made when it is asked for."""
    for extension, make in formats.items():
        st.download_button(
            extension.upper() if extension == "csv" else extension.capitalize(),
            make,
            file_name=f"{name}.{extension}",
            key=f"{key}-{extension}",
            icon=":material/download:",
            on_click="ignore",
            type="tertiary",
        )

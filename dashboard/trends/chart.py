"""The chart of a metric in one series, with its change points."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.drawing import charts, colours, formatting
from dashboard.trends import axes
from dashboard.trends.axes import Channel, ChartStyle

PICK = "run"
FEW = 60  # up to this many points are drawn large
BEFORE, AFTER = 5, 4  # runs on each side of a change point, as in view `trend`
MARKED = {"picked": (colours.RUNS[1], "diamond"), "other": (colours.RUNS[0], "circle")}
SERIES = "Runs of one model, mode and device. A run without a model goes by its name."
CHANGE = (
    "At a change point, the median of this run and up to four later runs differs from the median "
    "of up to five earlier runs by 5% or more, and by more than four times their spread. This "
    "takes at least three earlier runs and one later run."
)
LABELS = {"wall": "wall time", "bubble": "bubble (idle)", "peak": "peak memory"}


def label(metric: str) -> str:
    """Return a metric's name for headings."""
    if metric.startswith("bubble_"):
        return colours.label(metric.removeprefix("bubble_"))
    return LABELS.get(metric, metric.replace("_", " "))


def formatted(value: float | None, unit: str) -> str:
    """Return a metric as text with its unit."""
    if value is None or formatting.missing(value):
        return formatting.NONE
    if unit == "ns":
        return formatting.duration(value)
    return formatting.size(value) if unit == "bytes" else formatting.three_digits(value)


def change(percent: float | None) -> str:
    """Return a change in percent as text with its sign."""
    return formatting.percent_change(percent)


def draw(
    rows: pd.DataFrame,
    numbers: tuple[int, int],
    style: ChartStyle,
    key: str,
    on_pick: Callable[[str], None],
) -> None:
    """Draw a metric of one series. A click near a point calls `on_pick` with its run.

    `rows` are rows of view `trend`, in order. `numbers` are the first and last run number of the
    series.
    """
    series, metric, unit = (str(rows[column].iloc[0]) for column in ("series", "metric", "unit"))
    rows = rows.assign(
        x=rows["run_number"] if style.between is None else rows["started_at"].map(axes.utc)
    )
    if style.is_log:  # values of 0 or less interrupt the line
        rows = rows.assign(value=rows["value"].where(rows["value"] > 0))
    x = axes.x(numbers, style)
    y = axes.y(rows["value"] / style.factor, style, has_change=bool(rows["is_change_point"].any()))
    data = _points(rows, style, unit)

    def picked() -> None:
        chosen: Any = st.session_state[key]["selection"].get(PICK, [])
        if chosen:
            on_pick(str(chosen[0]["run_id"]))

    size = (30 if style.is_small else 60) if len(rows) <= FEW else 18
    line = {
        "mark": {
            "type": "line",
            "strokeWidth": 1.2,
            "opacity": 0.55,
            "color": MARKED["other"][0],
        },
        "encoding": {"x": x, "y": y},
    }
    opened = {
        "transform": [{"filter": {"field": "run_id", "equal": style.at or ""}}],
        "mark": {"type": "point", "size": 4 * size + 60, "color": colours.ink(), "strokeWidth": 2},
        "encoding": {"x": x, "y": y},
    }
    st.vega_lite_chart(
        data,
        {
            "config": charts.theme()["config"],
            "height": 170 if style.is_small else 210,
            # The heading is a mark, because a title has no tooltip. The title reserves its space.
            "title": {"text": " ", "fontSize": 12, "offset": 2},
            "layer": [
                line,
                *_medians(rows, style, x, y),
                _dots(x, y, size, metric),
                opened,
                _heading(series, style),
            ],
        },
        key=key,
        on_select=picked,
        selection_mode=PICK,
        alt=f"{label(metric)} of the runs of {formatting.clipped(series, 200)}",
    )


def _dots(x: Channel, y: Channel, size: int, metric: str) -> dict[str, Any]:
    """Return the layer with a point for each run. A click anywhere picks the nearest."""
    return {
        "mark": {"type": "point", "filled": True, "opacity": 0.9},
        "params": [
            {
                "name": PICK,
                "select": {"type": "point", "fields": ["run_id"], "nearest": True},
            }
        ],
        "encoding": {
            "x": x,
            "y": y,
            "color": _by_mark([colour for colour, _ in MARKED.values()]),
            "shape": _by_mark([shape for _, shape in MARKED.values()]),
            "size": _by_mark([3 * size, size]),
            "tooltip": [
                _named("run_id", "run"),
                _named("number", "run number"),
                _named("when", "when"),
                _named("formatted", label(metric)),
            ],
        },
    }


def _by_mark(values: list[Any]) -> Channel:
    scale = {"domain": list(MARKED), "range": values}
    return {"field": "mark", "type": "nominal", "legend": None, "scale": scale}


def _named(field: str, title: str) -> Channel:
    return {"field": field, "type": "nominal", "title": title}


def _heading(series: str, style: ChartStyle) -> dict[str, Any]:
    """Return the layer with the name of the series, shortened. The tooltip has the full name."""
    characters, pixels = (40, 250) if style.is_small else (60, 360)
    text = {
        "text": formatting.middle_out(series, characters),
        "series": formatting.clipped(series, charts.TOOLTIP_WIDTH),
    }
    return {
        "data": {"values": [text]},
        "mark": {
            "type": "text",
            "align": "left",
            "color": colours.ink(),
            "limit": pixels,
            "fontSize": 12,
        },
        "encoding": {
            "x": {"value": 4 - axes.SIDE},
            "y": {"value": -12},
            "text": {"field": "text", "type": "nominal"},
            "tooltip": [_named("series", "series")],
        },
    }


def _points(rows: pd.DataFrame, style: ChartStyle, unit: str) -> pd.DataFrame:
    data = pd.DataFrame(
        {
            "run_id": rows["run_id"],
            "mark": ["picked" if run in style.picked else "other" for run in rows["run_id"]],
            "x": rows["x"],
            "number": rows["run_number"].map(formatting.count),
            "when": rows["started_at"].map(formatting.moment),
            "value": rows["value"] / style.factor,  # null if a log scale cannot show it
            "formatted": [formatted(value, unit) for value in rows["value"]],
        }
    )
    return data.sort_values("mark", kind="stable")  # picked runs last, so drawn above the others


def _medians(rows: pd.DataFrame, style: ChartStyle, x: Channel, y: Channel) -> list[dict[str, Any]]:
    """Return layers with the medians before and after each change point, and the change."""
    steps, labels = [], []
    for index in (number for number, is_one in enumerate(rows["is_change_point"]) if is_one):
        row = rows.iloc[index]
        before, after = row["before_median"] / style.factor, row["from_median"] / style.factor
        if style.is_log and min(before, after) <= 0:
            continue
        first = rows["x"].iloc[max(0, index - BEFORE)]
        last = rows["x"].iloc[min(len(rows) - 1, index + AFTER)]
        corners = [(first, before), (row["x"], before), (row["x"], after), (last, after)]
        steps += [
            {"step": str(index), "corner": corner, "x": at, "value": value}
            for corner, (at, value) in enumerate(corners)
        ]
        text = change(row["change_percent"]) if before else "from 0"
        labels.append({"x": row["x"], "value": max(before, after), "text": text})
    if not steps:
        return []
    lines = {
        "data": {"values": pd.DataFrame(steps).to_dict("records")},
        "mark": {"type": "line", "color": colours.ink(), "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": y,
            "detail": {"field": "step", "type": "nominal"},
            "order": {"field": "corner", "type": "quantitative"},
        },
    }
    texts = {
        "data": {"values": pd.DataFrame(labels).to_dict("records")},
        "mark": {"type": "text", "color": colours.ink(), "dy": -9, "fontWeight": "bold"},
        "encoding": {"x": x, "y": y, "text": {"field": "text", "type": "nominal"}},
    }
    return [lines, texts]

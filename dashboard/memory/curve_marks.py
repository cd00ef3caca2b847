"""Marks on a memory curve: steps and annotations in lanes, and notable moments."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.drawing import colours, formatting, lanes
from dashboard.memory.chosen_moment import Moment, end_or_peak
from dashboard.memory.stretch import Stretch
from ingest.server import DeviceMemory

SIDE_PIXELS = 150  # left of each chart, for names; the same width aligns the charts
SIDE: dict[str, Any] = {"minExtent": SIDE_PIXELS, "maxExtent": SIDE_PIXELS, "labelLimit": 132}
STEPS = "steps"
MAX_LANES = 8
STEP_COLOURS = ("#7FC08D", "#B5DDBD")  # the colours alternate, and black text is readable on both
ANNOTATION = "#61CCF2"
MAX_LINES = 6  # maximum number of lines of labels above the curve
LABEL_LEFT_FROM = 0.8  # marks right of this fraction of the width have their label on the left
NAME_WIDTH = 120  # characters in tooltips


def draw_lanes(marks: pd.DataFrame, stretch: Stretch, key: str) -> None:
    """Draw the steps in one lane and annotations in a lane for each name, if there are any."""
    marks = marks[marks["kind"] != "oom"].sort_values("start_position", ignore_index=True)
    if marks.empty:
        return
    is_step = marks["kind"] == "step"
    lane = marks["name"].map(formatting.short_paths(marks["name"].dropna().unique(), 60))
    lane = lane.where(~is_step, STEPS)
    lengths = (marks["end_position"] - marks["start_position"]).groupby(lane).sum()
    order = [STEPS] if is_step.any() else []
    order += [one for one in lengths.sort_values(ascending=False).index if one != STEPS]
    shown = order[:MAX_LANES]
    boxes = marks.assign(
        lane=lane.map({name: index for index, name in enumerate(shown)}),
        start=marks["start_position"],
        end=marks["end_position"],
        colour=[
            STEP_COLOURS[number % 2] if step else ANNOTATION
            for number, step in zip(is_step.cumsum(), is_step, strict=True)
        ],
        label=marks["name"].where(is_step, ""),
        text=[
            f"{row.kind} {formatting.clipped(str(row.name), NAME_WIDTH)}: "
            f"{_length(row.end_position - row.start_position, stretch)} at "
            f"{_length(row.start_position, stretch)}"
            for row in marks.itertuples(index=False)
        ],
    )
    lanes.draw(
        boxes[boxes["lane"].notna()].astype({"lane": int}),
        shown,
        lanes.Axis(stretch.since, stretch.until),
        key=key,
        alt="Steps and annotations over time",
        side_pixels=SIDE_PIXELS,
    )
    if len(order) > MAX_LANES:
        st.caption(
            f"The {MAX_LANES} longest of {len(order)} kinds of steps and annotations are shown."
        )


def _length(value: float, stretch: Stretch) -> str:
    if stretch.axis == "order":
        return formatting.counted(int(value), "action")
    return formatting.duration(value)


def lines(device: DeviceMemory, marks: pd.DataFrame, moment: Moment) -> int:
    """Return the number of lines that the labels of `points` need."""
    errors = int((marks["kind"] == "oom").sum())
    return min(MAX_LINES, errors + (1 if moment.ordinal == device.peak_ordinal else 2))


def points(
    device: DeviceMemory,
    stretch: Stretch,
    factor: float,
    size: float,
    marks: pd.DataFrame,
    moment: Moment,
    moments: pd.DataFrame,
    x: alt.X,
) -> list[Any]:
    """Return layers for the peak, the chosen moment and each out-of-memory error, with labels."""
    position_of = dict(zip(moments["ordinal"], moments["position"], strict=True))
    found = []
    for mark in marks[marks["kind"] == "oom"].itertuples():
        found.append((mark.start_position, "out of memory", colours.ALARM))
    peak = f"peak {formatting.size(device.peak_bytes)}"
    chosen = _position(device, stretch, moment, position_of)
    if moment.ordinal == device.peak_ordinal:
        found.append((chosen, peak, colours.ink()))
    else:
        highest = position_of.get(device.peak_ordinal)
        found.append((highest, peak, colours.ink()))
        known = end_or_peak(device, moment) if device.has_history else None
        label = f"the {known}" if known else formatting.size(moment.used_bytes)
        found.append((chosen, f"shown below: {label}", colours.ink()))
    seen = [
        {
            "position": position / factor,
            "label": label,
            "colour": colour,
            "left": (position - stretch.since) > LABEL_LEFT_FROM * (stretch.until - stretch.since),
            "line": number,
        }
        for number, (position, label, colour) in enumerate(found)
        if position is not None and stretch.since <= position <= stretch.until
    ]
    if not seen:
        return []
    base = alt.Chart(pd.DataFrame(seen)).encode(x=x, color=alt.Color("colour:N", scale=None))
    layers = [base.mark_rule(strokeDash=[4, 3])]
    for left in (False, True):
        for line in {mark["line"] for mark in seen if mark["left"] == left}:
            text = base.transform_filter(f"datum.left == {str(left).lower()}").transform_filter(
                f"datum.line == {line}"
            )
            layers.append(
                text.mark_text(
                    align="right" if left else "left",
                    dx=-5 if left else 5,
                    fontWeight="bold",
                    baseline="top",
                ).encode(y=alt.value(2 + 15 * (line % MAX_LINES)), text=alt.Text("label:N"))
            )
    return layers


def _position(
    device: DeviceMemory, stretch: Stretch, moment: Moment, position_of: dict[int, float]
) -> float | None:
    """Return the axis position of a moment, even if it is not among the drawn ones."""
    if moment.ordinal in position_of:
        return position_of[moment.ordinal]
    if stretch.axis == "order":
        return max(moment.ordinal, 0)
    if moment.time_ns is None or device.first_ns is None:
        return None
    return moment.time_ns - device.first_ns

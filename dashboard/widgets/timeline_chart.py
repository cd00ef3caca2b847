"""The two charts of a timeline: how busy the device was, and what ran or idled when."""

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.widgets import charts, colours, formatting

BRUSH = "stretch"
BUSY_HEIGHT = 110
GAPS = "idle"  # the lane of the gaps in view `activity_timeline`
HOST = "operators on the host"  # the part of all lanes of the host below those of a device
HOST_COLOUR = colours.UNKNOWN_OWNERS[1]
NAME_WIDTH = 160  # characters of a name in a tooltip
SIDE: dict[str, Any] = {"minExtent": 80, "maxExtent": 80, "labelLimit": 75}  # aligns the charts


def draw(
    occupancy: pd.DataFrame,
    moments: pd.DataFrame,
    steps: pd.DataFrame,
    since: int,
    until: int,
    key: str,
    on_zoom: Callable[[int, int], None],
) -> None:
    """Two charts on one time axis; brushing the upper one calls `on_zoom` with a stretch, ns.

    The lower one marks the beginning and end of `steps`.

    They are apart because Vega fails on a brush in one of two concatenated charts.
    """
    factor, unit = charts.duration_axis(until - since)
    time = alt.Scale(domain=[since / factor, until / factor], nice=False, padding=0)
    parts = set(occupancy["part"]) | set(moments["part"])
    colour_of = {colours.label(part): colours.of(part) for part in colours.order(parts)}
    if HOST in parts:
        colour_of[HOST] = HOST_COLOUR

    def brushed() -> None:
        chosen: Any = st.session_state[key]["selection"].get(BRUSH, {})
        if interval := chosen.get("from"):
            begin, end = sorted(int(edge * factor) for edge in interval)
            on_zoom(begin, end)

    charts.legend(colour_of)
    st.altair_chart(
        busy(occupancy, factor, time, parts, BUSY_HEIGHT),
        key=key,
        on_select=brushed,
        selection_mode=BRUSH,
        alt="Share of each stretch of time that was compute, communication, copy or idle",
    )
    lanes = _lanes(moments, factor, time, unit, colour_of, since, until)
    marks = [] if steps.empty else _steps(steps, factor, time, since, until)
    height = lanes.height
    st.altair_chart(
        alt.layer(lanes, *marks).properties(height=height), alt="Gaps and activities in time"
    )


def busy(
    occupancy: pd.DataFrame, factor: float, time: alt.Scale, parts: set[str], height: int
) -> Any:
    """What share of each stretch was of which part; brushing selects a stretch of time."""
    data = pd.DataFrame(
        {
            "from": occupancy["start_ns"] / factor,
            "to": occupancy["end_ns"] / factor,
            "percent": occupancy["percent"],
            "label": occupancy["part"].map(colours.label),
            "place": occupancy["part"].map(colours.place),
            "time": occupancy["part_ns"].map(formatting.duration),
            "share": occupancy["percent"].map(formatting.percent),
        }
    )
    return (
        alt.Chart(data)
        .mark_bar(orient="vertical", strokeWidth=1)
        .encode(
            x=alt.X("from:Q", scale=time, title=None, axis=alt.Axis(labels=False, ticks=False)),
            x2=alt.X2("to:Q"),
            y=alt.Y(
                "percent:Q",
                title=None,
                scale=alt.Scale(domain=[0, 100]),
                axis=alt.Axis(**SIDE, values=[0, 25, 50, 75, 100], labelExpr="datum.value + '%'"),
            ),
            order=alt.Order("place:Q"),
            color=charts.coloured(parts),
            stroke=alt.Stroke(
                "label:N", scale=charts.colour_scale(colours.order(parts)), legend=None
            ),
            tooltip=charts.tooltips("label:N", "time:N", ("share:N", "of the stretch")),
        )
        .add_params(alt.selection_interval(name=BRUSH, encodings=["x"]))
        .properties(height=height)
    )


def _lanes(
    moments: pd.DataFrame,
    factor: float,
    time: alt.Scale,
    unit: str,
    colour_of: Mapping[str, str],
    since: int,
    until: int,
) -> Any:
    def short(column: str) -> list[str]:
        """Short names; most occur often."""
        if column not in moments:
            return [formatting.NONE] * len(moments)
        names = {name: formatting.short_name(name, NAME_WIDTH) for name in set(moments[column])}
        return [names[name] for name in moments[column]]

    data = pd.DataFrame(
        {
            "from": moments["start_ns"].clip(since, until) / factor,
            "to": moments["end_ns"].clip(since, until) / factor,
            "lane": moments["lane"],
            "label": [part if part == HOST else colours.label(part) for part in moments["part"]],
            "time": moments["dur_ns"].map(formatting.duration),
            "at": moments["start_ns"].map(formatting.duration),
            "name": short("name"),
            "op": short("op"),
            "frame": short("host_frame"),
            "before": short("before_kernel"),
            "after": short("after_kernel"),
        }
    )
    order = sorted(set(data["lane"]), key=lane_order)
    scale = alt.Scale(domain=list(colour_of), range=list(colour_of.values()))
    return (
        alt.Chart(data)
        .mark_bar(height={"band": 0.8}, minBandSize=4)
        .encode(
            x=alt.X("from:Q", scale=time, title=f"time since the start of the recording ({unit})"),
            x2=alt.X2("to:Q"),
            y=alt.Y("lane:N", sort=order, title=None, axis=alt.Axis(**SIDE)),
            color=alt.Color("label:N", scale=scale, legend=None),
            tooltip=charts.tooltips(
                "label:N",
                "time:N",
                "at:N",
                "name:N",
                ("op:N", "op on the host"),
                ("frame:N", "Python frame"),
                ("before:N", "before"),
                ("after:N", "after"),
            ),
        )
        .properties(height=26 * len(order) + 75)
    )


def lane_order(lane: str) -> tuple[bool, bool, str, int]:
    """Where a lane stands: the gaps, the streams by number, and below them the host's threads."""
    what, _, number = lane.rpartition(" ")
    return (
        lane != GAPS,
        what == "thread",
        what,
        int(number) if number.isdecimal() else -1,
    )


def _steps(
    steps: pd.DataFrame, factor: float, time: alt.Scale, since: int, until: int
) -> list[Any]:
    """Lines where steps begin and end, and the name of each at its beginning."""
    edges = sorted({*steps["start_ns"], *steps["end_ns"]})
    lines = pd.DataFrame({"at": [edge / factor for edge in edges if since <= edge <= until]})
    names = pd.DataFrame(
        {
            "at": steps["start_ns"].clip(lower=since) / factor,
            "step": [f"step {step:,}" for step in steps["step"]],
        }
    )
    at = alt.X("at:Q", scale=time)
    return [
        alt.Chart(lines).mark_rule(strokeDash=[4, 3], color=colours.ink()).encode(x=at),
        alt.Chart(names)
        .mark_text(align="left", baseline="bottom", dx=3, color=colours.ink())
        .encode(x=at, y=alt.value(-3), text=alt.Text("step:N")),
    ]

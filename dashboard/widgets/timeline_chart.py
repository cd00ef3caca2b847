"""The two charts of a timeline: how busy the device was, and what ran or idled when."""

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.widgets import charts, colours, formatting

BRUSH = "stretch"
BUSY_HEIGHT = 110
GAPS = "idle"  # the lane of the gaps in view `activity_timeline`
NAME_WIDTH = 160  # characters of a name in a tooltip
SIDE: dict[str, Any] = {"minExtent": 80, "maxExtent": 80, "labelLimit": 75}  # aligns the charts


def draw(
    occupancy: pd.DataFrame,
    moments: pd.DataFrame,
    since: int,
    until: int,
    key: str,
    on_zoom: Callable[[int, int], None],
) -> None:
    """Two charts on one time axis; brushing the upper one calls `on_zoom` with a stretch, ns.

    They are apart because Vega fails on a brush in one of two concatenated charts.
    """
    factor, unit = charts.duration_axis(until - since)
    time = alt.Scale(domain=[since / factor, until / factor], nice=False, padding=0)
    parts = set(occupancy["part"]) | set(moments["part"])

    def brushed() -> None:
        chosen: Any = st.session_state[key]["selection"].get(BRUSH, {})
        if interval := chosen.get("from"):
            begin, end = sorted(int(edge * factor) for edge in interval)
            on_zoom(begin, end)

    charts.legend_of(parts)
    st.altair_chart(
        busy(occupancy, factor, time, parts, BUSY_HEIGHT),
        key=key,
        on_select=brushed,
        selection_mode=BRUSH,
        alt="Share of each stretch of time that was compute, communication, copy or idle",
    )
    st.altair_chart(
        _lanes(moments, factor, time, unit, parts, since, until),
        alt="Gaps and activities in time",
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
    parts: set[str],
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
            "label": moments["part"].map(colours.label),
            "time": moments["dur_ns"].map(formatting.duration),
            "at": moments["start_ns"].map(formatting.duration),
            "name": short("name"),
            "op": short("op"),
            "frame": short("host_frame"),
            "before": short("before_kernel"),
            "after": short("after_kernel"),
        }
    )
    lanes = set(data["lane"])
    streams = sorted(lane for lane in lanes if not lane.startswith("thread "))
    # The gaps, the streams, and below them the host's threads.
    order = [*(GAPS,) * (GAPS in lanes), *(lane for lane in streams if lane != GAPS)]
    order += sorted(lanes - {*streams})
    return (
        alt.Chart(data)
        .mark_bar(height={"band": 0.8}, minBandSize=4)
        .encode(
            x=alt.X("from:Q", scale=time, title=f"time since the start of the recording ({unit})"),
            x2=alt.X2("to:Q"),
            y=alt.Y("lane:N", sort=order, title=None, axis=alt.Axis(**SIDE)),
            color=charts.coloured(parts),
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

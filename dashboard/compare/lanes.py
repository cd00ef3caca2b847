"""The charts of one side of two timelines that share a time axis."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.widgets import charts, colours, formatting, timeline_chart
from dashboard.widgets.timeline_chart import BRUSH, NAME_WIDTH, SIDE

BUSY_HEIGHT = 90
LANE_HEIGHT = 30
EDGED_PIXELS = 2  # that an activity is wide, on lanes of about so many
LANE_PIXELS = 1_000
FAINT = 0.2


@dataclass(frozen=True)
class Axis:
    """The stretch of time that both sides show, ns, and the unit it is written in."""

    since: int
    until: int
    factor: float
    unit: str
    last: bool

    @property
    def scale(self) -> alt.Scale:
        """The same on both sides, so that they stand under each other."""
        domain = [self.since / self.factor, self.until / self.factor]
        return alt.Scale(domain=domain, nice=False, padding=0)


def draw(
    occupancy: pd.DataFrame,
    work_items: pd.DataFrame,
    axis: Axis,
    parts: set[str],
    ticked: set[int] | None,
    key: str,
    on_zoom: Callable[[int, int], None],
) -> None:
    """How busy it was, and below it what ran; brushing the upper calls `on_zoom`, ns.

    Where some work items are ticked, the others are faint.
    """

    def brushed() -> None:
        chosen: Any = st.session_state[key]["selection"].get(BRUSH, {})
        if interval := chosen.get("from"):
            begin, end = sorted(int(edge * axis.factor) for edge in interval)
            on_zoom(max(0, begin), end)

    if work_items.empty and occupancy.empty:
        st.caption("Nothing ran in this stretch: the step was over, or had not begun.")
        return
    st.altair_chart(
        timeline_chart.busy(occupancy, axis.factor, axis.scale, parts, BUSY_HEIGHT),
        key=key,
        on_select=brushed,
        selection_mode=BRUSH,
        alt="Share of each stretch of time that was busy",
    )
    st.altair_chart(_lanes(work_items, axis, parts, ticked), alt="What ran when, lane by lane")


def _short(names: pd.Series) -> pd.Series:
    """Names for tooltips; most occur often."""
    names = names.fillna(formatting.NONE)
    return names.map({name: formatting.short_name(name, NAME_WIDTH) for name in set(names)})


def _lanes(work_items: pd.DataFrame, axis: Axis, parts: set[str], ticked: set[int] | None) -> Any:
    ends = work_items["start_ns"] + work_items["dur_ns"]
    data = pd.DataFrame(
        {
            "from": work_items["start_ns"].clip(axis.since, axis.until) / axis.factor,
            "to": ends.clip(axis.since, axis.until) / axis.factor,
            "lane": work_items["lane"],
            "opacity": work_items["work_item_id"].isin(ticked).map({True: 1, False: FAINT})
            if ticked is not None
            else 1,
            "label": work_items["class"].map(colours.label),
            "time": work_items["dur_ns"].map(formatting.duration),
            "at": work_items["start_ns"].map(formatting.duration),
            "name": _short(work_items["name"]),
            "op": _short(work_items["op"]),
            "module": work_items["module"].fillna(formatting.NONE),
        }
    )
    lanes = sorted(set(data["lane"]), key=timeline_chart.lane_order)
    # An edge in the background's colour keeps neighbours apart, where there is room for it.
    pixels = LANE_PIXELS * work_items["dur_ns"].median() / (axis.until - axis.since)
    edge: dict[str, Any] = (
        {"stroke": colours.paper(), "strokeWidth": 0.5} if pixels >= EDGED_PIXELS else {}
    )
    title = f"time since the step's start ({axis.unit})" if axis.last else None
    return (
        alt.Chart(data)
        .mark_bar(height={"band": 0.85}, minBandSize=3, **edge)
        .encode(
            x=alt.X("from:Q", scale=axis.scale, title=title),
            x2=alt.X2("to:Q"),
            y=alt.Y("lane:N", sort=lanes, title=None, axis=alt.Axis(**SIDE)),
            color=charts.coloured(parts),
            opacity=alt.Opacity("opacity:Q", scale=None, legend=None),
            tooltip=charts.tooltips(
                "name:N",
                ("op:N", "operator"),
                "time:N",
                ("at:N", "since the start"),
                "label:N",
                "module:N",
            ),
        )
        .properties(height=LANE_HEIGHT * max(1, len(lanes)) + (75 if axis.last else 50))
    )

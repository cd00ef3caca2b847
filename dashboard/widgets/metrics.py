"""Metrics at the top of a page."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data
from dashboard.query import select
from dashboard.widgets import formatting
from dashboard.widgets.view import View


def of_view(view: View) -> DeltaGenerator:
    """Wall, busy and idle time of the steps; of a whole recording the device's span instead.

    Returns the row that they stand in.
    """
    shown = st.container(horizontal=True)
    if view.steps.is_whole and not view.is_host:
        (total,) = data.rows(select("*", "device_totals", view.where())).itertuples()
        with shown:
            times(total)
            st.metric("Device activities", formatting.count(total.activities))
        return shown
    sums = select(
        "sum(wall_ns)::BIGINT AS wall_ns, sum(busy_ns)::BIGINT AS busy_ns, "
        "sum(idle_ns)::BIGINT AS idle_ns, sum(bubbles)::BIGINT AS bubbles, "
        "sum(activities)::BIGINT AS activities",
        "step_metrics",
        {**view.where(), **view.steps.where()},
    )
    (row,) = data.rows(sums).itertuples()

    with shown:
        st.metric("Wall time", formatting.duration(row.wall_ns))
        busy = "Host busy" if view.is_host else "Device busy"
        with_share(busy, row.busy_ns, share(row.busy_ns, row.wall_ns))
        with_share("Idle", row.idle_ns, share(row.idle_ns, row.wall_ns))
        what = "Operators" if view.is_host else "Device activities"
        st.metric(what, formatting.count(row.activities))
        st.metric("Gaps", formatting.count(row.bubbles))
    return shown


def times(row: Any, devices: int = 1) -> None:
    """Span, busy and idle time of a row of `run_overview` or `device_totals`."""
    mean = "" if devices == 1 else f" (mean of {devices} devices)"
    st.metric(f"Span{mean}", formatting.duration(row.span_ns))
    st.metric(f"Busy{mean}", formatting.duration(row.busy_ns))
    with_share(f"Idle{mean}", row.bubble_ns, formatting.percent(row.bubble_percent))


def share(ns: float, wall_ns: float, of: str = "it") -> str:
    """What share of a wall time a time is; empty where that is 0."""
    return f"{formatting.percent(100 * ns / wall_ns)} of {of}" if wall_ns else ""


def with_share(label: str, ns: float, share: str) -> None:
    """A time with what share it is of something, in words."""
    st.metric(label, formatting.duration(ns), share, delta_color="off", delta_arrow="off")

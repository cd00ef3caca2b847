"""Metrics at the top of a page."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data
from dashboard.query import select
from dashboard.widgets import formatting, median_step
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
    row = of_steps(view)
    with shown:
        st.metric("Wall time", formatting.duration(row.wall_ns))
        busy = "Host busy" if view.is_host else "Device busy"
        with_share(busy, row.busy_ns, share(row.busy_ns, row.wall_ns))
        with_share("Idle", row.bubble_ns, share(row.bubble_ns, row.wall_ns))
        what = "Operators" if view.is_host else "Device activities"
        st.metric(what, formatting.count(row.activities))
        st.metric("Gaps", formatting.count(row.bubbles))
    return shown


def of_steps(view: View) -> Any:
    """The row of `metrics_of_steps` for the view's steps of its device."""
    query = select(
        "*", "metrics_of_steps", view.of_device(), arguments=(view.run, *view.steps.bounds)
    )
    (row,) = data.rows(query).itertuples()
    return row


def wall(view: View, row: Any) -> None:
    """The wall time of the view's steps; `row` is that of `of_steps`.

    Of the median step, with the times of the middle half of all steps.
    """
    known = view.measured
    said, help = None, "Wall time of these steps, with the time between them."
    if row.is_median:
        help = f"Wall time: {median_step.described(known)}."
        if known.steps > 1:
            times = map(formatting.duration, (known.q1_wall_ns, known.q3_wall_ns))
            said = f"half of {int(known.steps)}: {' to '.join(times)}"
    elif row.steps > 1:
        said = formatting.counted(int(row.steps), "step")
    label = str(row.steps_name).removeprefix("the ").capitalize()
    _described(label, row.wall_ns, said, help)


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
    _described(label, ns, share)


def _described(label: str, ns: float, said: str | None, help: str | None = None) -> None:
    value = formatting.duration(ns)
    st.metric(label, value, said, delta_color="off", delta_arrow="off", help=help)

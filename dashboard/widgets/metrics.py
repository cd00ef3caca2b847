"""Metrics at the top of a page."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import select
from dashboard.widgets import median_step
from dashboard.widgets.view import View

FEW_STEPS = 3  # of so few, the middle half is all of them
HELP = {
    "wall": "From the start of the steps to their end, or to the end of what they launched.",
    "span": "From the device's first activity in the recording to the end of its last.",
    "busy": "Time in which at least one kernel, copy or set ran on the device.",
    "host_busy": "Time in which at least one operator, or compiled code, ran on the host.",
    "idle": "Time between activities in which nothing ran on the device.",
    "host_idle": "Time between operators: the host was in Python, or waited.",
    "activities": "Kernels, copies and sets.",
    "operators": "Calls of outermost operators, those that no other operator calls.",
    "gaps": "Stretches of idle time. A gap counts in the step of the activity that ended it.",
    "launches": "Calls of the host that launched kernels.",
    "kernels": "Kernels that the steps launched, without copies and sets.",
    "peak": "The most memory in use at a moment of these steps.",
    "recompiles": "Compilations of code that had been compiled before, in the measured steps.",
}


def of_view(view: View) -> DeltaGenerator:
    """Wall, busy and idle time of the steps; of a whole recording the device's span instead.

    Returns the row that they stand in.
    """
    shown = st.container(horizontal=True)
    if view.steps.is_whole and not view.is_host:
        (total,) = data.rows(select("*", "device_totals", view.where())).itertuples()
        with shown:
            times(total)
            st.metric(
                "Device activities", formatting.count(total.activities), help=HELP["activities"]
            )
        return shown
    row = of_steps(view)
    with shown:
        st.metric("Wall time", formatting.duration(row.wall_ns), help=HELP["wall"])
        busy_and_idle(row, view.is_host)
        what = "Operators" if view.is_host else "Device activities"
        help = HELP["operators" if view.is_host else "activities"]
        st.metric(what, formatting.count(row.activities), help=help)
        st.metric("Gaps", formatting.count(row.bubbles), help=HELP["gaps"])
    return shown


def busy_and_idle(row: Any, is_host: bool) -> None:
    """Both as shares of the wall time; `row` is that of `of_steps`."""
    busy = ("Host busy", "host_busy") if is_host else ("Device busy", "busy")
    with_share(busy[0], row.busy_ns, share(row.busy_ns, row.wall_ns), HELP[busy[1]])
    idle = HELP["host_idle" if is_host else "idle"]
    with_share("Idle", row.bubble_ns, share(row.bubble_ns, row.wall_ns), idle)


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
            steps = int(known.steps)
            of = f"half of {steps}" if steps > FEW_STEPS else f"{steps} steps"
            said = f"{of}: {' to '.join(times)}"
    elif row.steps > 1:
        said = formatting.counted(int(row.steps), "step")
    label = str(row.steps_name).removeprefix("the ").capitalize()
    _described(label, row.wall_ns, said, help)


def times(row: Any, devices: int = 1) -> None:
    """Span, busy and idle time of a row of `run_overview` or `device_totals`."""
    mean = "" if devices == 1 else f" (mean of {devices} devices)"
    st.metric(f"Span{mean}", formatting.duration(row.span_ns), help=HELP["span"])
    st.metric(f"Device busy{mean}", formatting.duration(row.busy_ns), help=HELP["busy"])
    idle = f"{formatting.percent(row.bubble_percent)} of the span"
    with_share(f"Idle{mean}", row.bubble_ns, idle, HELP["idle"])


def share(ns: float, wall_ns: float) -> str:
    """What share of a wall time a time is; empty where that is 0."""
    return f"{formatting.percent(100 * ns / wall_ns)} of the wall time" if wall_ns else ""


def with_share(label: str, ns: float, share: str, help: str | None = None) -> None:
    """A time with what share it is of something, in words."""
    _described(label, ns, share, help)


def _described(label: str, ns: float, said: str | None, help: str | None = None) -> None:
    value = formatting.duration(ns)
    st.metric(label, value, said, delta_color="off", delta_arrow="off", help=help)

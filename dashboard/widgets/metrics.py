"""Metrics at the top of a page."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import median_step
from dashboard.widgets.view import View
from ingest.server import select

FEW_STEPS = 3  # with at most this many steps, the middle half is all steps
HELP = {
    "wall": "Wall time of the steps. A step ends when the host has ended it and the device has "
    "ended its work. It begins at the end of the step before, but not before the host begins it.",
    "range": "How long the host was in the steps, as the profiler shows it. A step's wall time is "
    "shorter if the device still did the work of the step before, and longer if its own work ended "
    "later.",
    "span": "From the start of the device's first activity in the recording to the end of its "
    "last.",
    "busy": "Time when at least one kernel, copy or memset ran on the device.",
    "host_busy": "Time when at least one operator, or compiled code, ran on the host.",
    "idle": "Time when nothing ran on the device.",
    "fill": "Idle time at the start of the first step. In a later step, the device would do the "
    "work of the step before.",
    "host_idle": "Time when no operator ran: the host ran Python or waited.",
    "activities": "Kernels, copies and memsets.",
    "operators": "Calls of outermost operators: those that no other operator called.",
    "gaps": "Intervals of idle time. A gap belongs to the step of the activity that ended it.",
    "launches": "Host calls that launched kernels.",
    "kernels": "Kernels that the steps launched, without copies and memsets.",
    "peak": "The most memory in use at any moment of these steps.",
    "recompiles": "Recompilations of already compiled code in the measured steps.",
}


def of_view(view: View) -> DeltaGenerator:
    """Show wall, busy and idle time of the steps. Return the container of the metrics."""
    shown = st.container(horizontal=True)
    row = of_steps(view)
    with shown:
        st.metric("Wall time", formatting.duration(row.wall_ns), help=HELP["wall"])
        host_range(view, row)
        busy_and_idle(row, view.is_host)
        label = "Operators" if view.is_host else "Device activities"
        help = HELP["operators" if view.is_host else "activities"]
        st.metric(label, formatting.count(row.activities), help=help)
        st.metric("Gaps", formatting.count(row.bubbles), help=HELP["gaps"])
    return shown


def busy_and_idle(row: Any, is_host: bool) -> None:
    """Show busy and idle time with their shares of the wall time; `row` is from `of_steps`."""
    busy = ("Host busy", "host_busy") if is_host else ("Device busy", "busy")
    with_share(busy[0], row.busy_ns, share(row.busy_ns, row.wall_ns), HELP[busy[1]])
    idle = HELP["host_idle" if is_host else "idle"]
    with_share("Idle", row.idle_ns, share(row.idle_ns, row.wall_ns), idle)
    if row.fill_ns:
        filled = share(row.fill_ns, row.wall_ns)
        with_share("Pipeline fill", row.fill_ns, filled, HELP["fill"])


def of_steps(view: View) -> Any:
    """Return the row of `metrics_of_steps` for the view's steps and device."""
    query = select(
        "*", "metrics_of_steps", view.of_device(), arguments=(view.run, *view.steps.bounds)
    )
    (row,) = data.rows(query).itertuples()
    return row


def wall(view: View, row: Any) -> None:
    """Show the wall time of the view's steps; `row` is from `of_steps`.

    For the median step, add the times of the middle half of all steps.
    """
    measured = view.measured
    note, help = None, "Wall time of these steps, with the time between them."
    if row.is_median:
        help = f"Wall time: {median_step.described(measured)}."
        if median_step.compared(measured) > 1:
            times = map(formatting.duration, (measured.q1_wall_ns, measured.q3_wall_ns))
            steps = median_step.compared(measured)
            of = f"middle half of {steps}" if steps > FEW_STEPS else f"{steps} steps"
            note = f"{of}: {' to '.join(times)}"
    elif row.steps > 1:
        note = formatting.counted(int(row.steps), "step")
    label = str(row.steps_name).removeprefix("the ").capitalize()
    _with_note(label, row.wall_ns, note, help)
    host_range(view, row)


def host_range(view: View, row: Any) -> None:
    """Show how long the host was in the steps, if their wall time on the device is another one."""
    if not view.steps.is_whole and row.range_ns != row.wall_ns:
        st.metric("Range on the host", formatting.duration(row.range_ns), help=HELP["range"])


def times(row: Any, devices: int = 1) -> None:
    """Show span, busy and idle time from a row of `run_overview` or `device_totals`."""
    mean = "" if devices == 1 else f" (mean of {devices} devices)"
    st.metric(f"Span{mean}", formatting.duration(row.span_ns), help=HELP["span"])
    st.metric(f"Device busy{mean}", formatting.duration(row.busy_ns), help=HELP["busy"])
    idle = f"{formatting.percent(row.idle_percent)} of the span"
    with_share(f"Idle{mean}", row.idle_ns, idle, HELP["idle"])


def share(ns: float, wall_ns: float) -> str:
    """Return a time as a share of a wall time, or an empty text if the wall time is 0."""
    return f"{formatting.percent(100 * ns / wall_ns)} of the wall time" if wall_ns else ""


def with_share(label: str, ns: float, share: str, help: str | None = None) -> None:
    """Show a time with its share, as a text."""
    _with_note(label, ns, share, help)


def _with_note(label: str, ns: float, note: str | None, help: str | None = None) -> None:
    value = formatting.duration(ns)
    st.metric(label, value, note, delta_color="off", delta_arrow="off", help=help)

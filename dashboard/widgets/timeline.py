"""The timeline of a device: how busy it was, stretch by stretch, and its gaps; with zoom."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import call, select
from dashboard.widgets import show_sql, timeline_chart, zoom
from dashboard.widgets.run_picker import Device
from dashboard.widgets.zoom import Zoom

BINS = 240
MOST_ACTIVITIES = 1_000
MOST_GAPS = 300
ZOOM = Zoom("from", "to", shortest=24)  # ns


@st.fragment
def show(run: str, device: Device) -> None:
    """Draws the stretch that the URL names, else all of it. Brushing zooms in."""
    start_ns, end_ns = recorded(run, device)
    whole = end_ns - start_ns
    since, until = ZOOM.stretch(whole)
    st.subheader("Timeline", anchor=False)
    occupancy = call(
        "start_ns, end_ns, part, part_ns, percent",
        "device_occupancy",
        [run, device.rank, device.device, start_ns + since, start_ns + until, BINS],
        "start_ns, part",
    )
    where = {"run_id": run, **device.where()}
    where |= {"start_ns <": start_ns + until, "end_ns >": start_ns + since}
    columns = (
        "lane, part, start_ns, end_ns, dur_ns, name, op, host_frame, before_kernel, after_kernel"
    )
    gaps = select(
        columns,
        "activity_timeline",
        {**where, "lane": timeline_chart.GAPS},
        order_by="dur_ns DESC, start_ns",
        limit=MOST_GAPS,
    )
    activities = select(
        columns,
        "activity_timeline",
        {**where, "lane <>": timeline_chart.GAPS},
        order_by="dur_ns DESC, start_ns",
        limit=MOST_ACTIVITIES + 1,
    )
    drawn = data.rows(activities)
    single = len(drawn) <= MOST_ACTIVITIES
    moments = pd.concat([data.rows(gaps), drawn]) if single else data.rows(gaps)
    described = zoom.described(since, until, whole)
    ZOOM.controls(f"{run}-{device.label}", since, until, whole, described)
    timeline_chart.draw(
        since_start(data.rows(occupancy), start_ns),
        since_start(moments, start_ns),
        since,
        until,
        key=f"timeline-{run}-{device.label}-{since}-{until}",
        on_zoom=ZOOM.to,
    )
    with st.container(horizontal=True):
        show_sql.show(occupancy, "busy")
        show_sql.show(gaps, "gaps")
        show_sql.show(activities, "activities")
    st.caption(
        "Drag over the upper part to zoom in. "
        + (
            "Every activity of the stretch is drawn."
            if single
            else f"Single activities are drawn when at most {MOST_ACTIVITIES:,} are in the stretch."
        )
        + f" Of the gaps, the longest {MOST_GAPS}."
    )


def recorded(run: str, device: Device) -> tuple[int, int]:
    """Unix ns at which the device's first activity began, and at which its last one ended."""
    query = select("start_ns, end_ns", "device_totals", {"run_id": run, **device.where()})
    (total,) = data.rows(query).itertuples()
    return int(total.start_ns), int(total.end_ns)


def since_start(frame: pd.DataFrame, start_ns: int) -> pd.DataFrame:
    """The same rows with times since `start_ns`, ns: a browser draws Unix ns inexactly."""
    return frame.assign(**{column: frame[column] - start_ns for column in ("start_ns", "end_ns")})

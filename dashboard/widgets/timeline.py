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
    (total,) = data.rows(
        select("start_ns, end_ns", "device_totals", {"run_id": run, **device.where()})
    ).itertuples()
    whole = int(total.end_ns - total.start_ns)
    since, until = ZOOM.stretch(whole)
    st.subheader("Timeline", anchor=False)
    occupancy = call(
        "from_ns, to_ns, part, part_ns, percent",
        "device_occupancy",
        [run, device.rank, device.device, since, until, BINS],
        "from_ns, part",
    )
    where = {"run_id": run, **device.where(), "from_ns <": until, "to_ns >": since}
    columns = (
        "lane, part, from_ns, to_ns, dur_ns, name, op, host_frame, before_kernel, after_kernel"
    )
    gaps = select(
        columns,
        "activity_timeline",
        {**where, "lane": timeline_chart.GAPS},
        order_by="dur_ns DESC, from_ns",
        limit=MOST_GAPS,
    )
    activities = select(
        columns,
        "activity_timeline",
        {**where, "lane <>": timeline_chart.GAPS},
        order_by="dur_ns DESC, from_ns",
        limit=MOST_ACTIVITIES + 1,
    )
    drawn = data.rows(activities)
    single = len(drawn) <= MOST_ACTIVITIES
    moments = pd.concat([data.rows(gaps), drawn]) if single else data.rows(gaps)
    described = zoom.described(since, until, whole)
    ZOOM.controls(f"{run}-{device.label}", since, until, whole, described)
    timeline_chart.draw(
        data.rows(occupancy),
        moments,
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

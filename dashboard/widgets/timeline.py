"""The timeline of a device: how busy it was, stretch by stretch, and its gaps; with zoom."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import call, select
from dashboard.run_picker import Device
from dashboard.widgets import formatting, show_sql, timeline_chart

BINS = 240
MOST_ACTIVITIES = 1_000
MOST_GAPS = 300
SHORTEST = 24  # ns: no zoom into less


@st.fragment
def show(run: str, device: Device) -> None:
    """Draws the stretch that the URL names, else all of it. Brushing zooms in."""
    (total,) = data.rows(
        select("start_ns, end_ns", "device_totals", {"run_id": run, **device.where()})
    ).itertuples()
    whole = int(total.end_ns - total.start_ns)
    since, until = stretch(whole)
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
    zoom_out(f"{run}-{device.label}", since, until, whole)
    timeline_chart.draw(
        data.rows(occupancy),
        moments,
        since,
        until,
        key=f"timeline-{run}-{device.label}-{since}-{until}",
        on_zoom=zoom,
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


def zoom(since: int, until: int) -> None:
    """Puts a stretch into the URL; the timeline draws it. Ignores what is too short to draw."""
    if until - since < SHORTEST:
        return
    # In one step, or the browser's Back would stop between the two.
    st.query_params.update({"from": str(since), "to": str(until)})


def stretch(whole: int) -> tuple[int, int]:
    """The URL's stretch where it is one of the whole time, ns, else all of it."""
    try:
        since, until = int(st.query_params["from"]), int(st.query_params["to"])
    except (KeyError, ValueError):
        return 0, whole
    since, until = max(0, since), min(whole, until)
    return (since, until) if until - since >= SHORTEST else (0, whole)


def zoom_out(key: str, since: int, until: int, whole: int) -> None:
    """Says which stretch is shown, with buttons that lead back to more of it."""
    length = until - since
    zoomed = length < whole

    def out() -> None:
        wider = 3 * length
        if wider >= whole:
            whole_again()
        else:
            begin = min(max(0, since - length), whole - wider)
            zoom(begin, begin + wider)

    def whole_again() -> None:
        st.query_params.pop("from", None)
        st.query_params.pop("to", None)

    with st.container(horizontal=True, vertical_alignment="center"):
        ends = [
            formatting.position(at, length) if zoomed else formatting.duration(at)
            for at in (since, until)
        ]
        st.markdown(
            f"{formatting.duration(length)} from {ends[0]} to {ends[1]} "
            f"of {formatting.duration(whole)}"
        )
        st.button(
            "Zoom out",
            on_click=out,
            disabled=not zoomed,
            key=f"out-{key}",
            icon=":material/zoom_out:",
        )
        st.button(
            "All",
            on_click=whole_again,
            disabled=not zoomed,
            key=f"all-{key}",
            icon=":material/fit_width:",
        )

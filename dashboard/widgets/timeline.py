"""The timeline of a device or host: how busy it was, its gaps and what ran; with zoom."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import Query, call, select
from dashboard.widgets import menu, timeline_chart, zoom
from dashboard.widgets.view import View

BINS = 240
MOST_ACTIVITIES = 1_000
MOST_GAPS = 300
COLUMNS = "lane, part, start_ns, end_ns, dur_ns, name, op, host_frame, before_kernel, after_kernel"


@st.fragment
def show(view: View) -> None:
    """Draws the stretch that the URL names, else the steps of the view. Brushing zooms in."""
    start_ns, end_ns = recorded(view)
    whole = end_ns - start_ns
    since, until = zoom.TIME.stretch(whole, _of_steps(view, start_ns, whole))
    queries = _queries(view, start_ns + since, start_ns + until)
    menu.heading("Timeline", queries, "timeline")
    frames = {what: data.rows(query) for what, query in queries.items()}
    zoom.TIME.controls(view.key, since, until, whole, zoom.described(since, until, whole))
    left_out = [what for what in LIMITS if len(frames.get(what, ())) > LIMITS[what]]
    drawn = [
        since_start(frames[what].head(LIMITS[what]), start_ns)
        for what in LIMITS
        if what in frames and (what == "gaps" or what not in left_out)
    ]
    timeline_chart.draw(
        since_start(frames["busy"], start_ns),
        pd.concat(drawn),
        since,
        until,
        key=f"timeline-{view.key}-{since}-{until}",
        on_zoom=zoom.TIME.to,
    )
    st.caption(" ".join(["Drag over the upper part to zoom in.", *map(_left_out, left_out)]))


LIMITS = {"gaps": MOST_GAPS, "activities": MOST_ACTIVITIES, "host": MOST_ACTIVITIES}


def _left_out(what: str) -> str:
    if what == "gaps":
        return f"Of the gaps, the longest {MOST_GAPS} are drawn."
    those = "activities of the device" if what == "activities" else "operators of the host"
    return f"Zoom in to see the {those}: there are more than {LIMITS[what]:,} in the stretch."


def _queries(view: View, since_ns: int, until_ns: int) -> dict[str, Query]:
    """What the charts show, from one Unix time to another, ns."""
    rank = view.device.rank if view.device else 0
    inside = {"start_ns <": until_ns, "end_ns >": since_ns}
    longest = "dur_ns DESC, start_ns"
    host = select(
        "lane, class AS part, start_ns, end_ns, dur_ns, name, op",
        "work_item_timeline",
        {"run_id": view.run, "rank": rank, "measure": "host", **inside},
        order_by=longest,
        limit=MOST_ACTIVITIES + 1,
    )
    stretch = [since_ns, until_ns, BINS]
    columns = "start_ns, end_ns, part, part_ns, percent"
    if view.is_host:
        arguments = [view.run, rank, *stretch]
        busy = call(columns, "host_occupancy", arguments, "start_ns, part")
        return {"busy": busy, "host": host}
    where = {**view.where(), **inside}
    device = view.device.device if view.device else None
    arguments = [view.run, rank, device, *stretch]
    return {
        "busy": call(columns, "device_occupancy", arguments, "start_ns, part"),
        "gaps": select(
            COLUMNS,
            "activity_timeline",
            {**where, "lane": timeline_chart.GAPS},
            order_by=longest,
            limit=MOST_GAPS + 1,
        ),
        "activities": select(
            COLUMNS,
            "activity_timeline",
            {**where, "lane <>": timeline_chart.GAPS},
            order_by=longest,
            limit=MOST_ACTIVITIES + 1,
        ),
        "host": host,
    }


def recorded(view: View) -> tuple[int, int]:
    """Unix ns at which the device's first activity began, and at which its last one ended.

    Of a host, the ends of its measured time.
    """
    query = (
        select(
            "min(wall_start_ns) AS start_ns, max(wall_end_ns) AS end_ns",
            "measured_windows",
            view.where(),
        )
        if view.is_host
        else select("start_ns, end_ns", "device_totals", view.where())
    )
    (total,) = data.rows(query).itertuples()
    return int(total.start_ns), int(total.end_ns)


def _of_steps(view: View, start_ns: int, whole: int) -> tuple[int, int]:
    """From the start of the steps to the end of their work, ns since `start_ns`."""
    if view.steps.is_whole:
        return 0, whole
    query = select(
        "min(start_ns) AS start_ns, max(work_end_ns) AS end_ns",
        "step_metrics",
        view.of_steps(),
    )
    (row,) = data.rows(query).itertuples()
    return max(0, int(row.start_ns) - start_ns), min(whole, int(row.end_ns) - start_ns)


def since_start(frame: pd.DataFrame, start_ns: int) -> pd.DataFrame:
    """The same rows with times since `start_ns`, ns: a browser draws Unix ns inexactly."""
    return frame.assign(**{column: frame[column] - start_ns for column in ("start_ns", "end_ns")})

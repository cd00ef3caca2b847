"""The timeline of a device or host: its occupancy, its gaps and what ran, with zoom.

Pages Bubbles, Streams and Compare draw it. Page Timeline shows the trace itself, in Perfetto.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import component
from dashboard.widgets import menu, timeline_chart, timeline_link, zoom
from dashboard.widgets.view import View
from ingest.server import Query, call, select

BINS = 240
MAX_ACTIVITIES = 1_000
MAX_GAPS = 300
MAX_STEPS = 20
LIMITS = {
    "gaps": (MAX_GAPS, "gaps"),
    "activities": (MAX_ACTIVITIES, "activities of the device"),
    "host": (MAX_ACTIVITIES, "operators of the host"),
}
# Scroll back to the timeline if a gap is selected below it. Wait until the charts are redrawn.
SCROLL = """export default function ({ data, parentElement }) {
    const top = parentElement.querySelector(".top");
    const isNew = top.gap !== undefined && top.gap !== data.gap && data.gap !== null;
    top.gap = data.gap;
    if (isNew) setTimeout(() => top.scrollIntoView({ block: "nearest", behavior: "smooth" }), 300);
}"""
DETAILS = {
    "name": "name",
    "op": "op on the host",
    "host_frame": "Python frame",
    "before_kernel": "before",
    "after_kernel": "after",
}
COLUMNS = "lane, part, start_ns, end_ns, dur_ns, name, op, host_frame, before_kernel, after_kernel"


class Strips(NamedTuple):
    """More strips above the lanes.

    `text` describes the strips. `queries` returns their queries for a range of Unix times. `drawn`
    returns the strips for rows with times since the start of the recording.
    """

    text: str
    queries: Callable[[View, int, int], dict[str, Query]]
    drawn: Callable[[dict[str, pd.DataFrame]], dict[str, pd.DataFrame]]


@st.fragment
def show(view: View, more: Strips | None = None) -> None:
    """Draw the time range in the URL, by default the view's steps. A drag zooms in."""
    start_ns, end_ns = recorded(view)
    whole = end_ns - start_ns
    of_steps = range_of_steps(view, start_ns, whole)
    since, until = zoom.TIME.visible_range(whole, of_steps)
    queries = _queries(view, start_ns + since, start_ns + until)
    above = more.queries(view, start_ns + since, start_ns + until) if more else {}
    queries |= above
    _scroller().draw("timeline-scroller", data={"gap": st.query_params.get(zoom.GAP)})
    menu.heading("Timeline", queries, "timeline", files=view.files)
    frames = {what: data.rows(query) for what, query in queries.items()}
    text = described(view, (since, until), of_steps, whole)
    zoom.TIME.controls(view.key, since, until, whole, text)
    drawn = [
        since_start(frames[what].head(most), start_ns)
        for what, (most, _) in LIMITS.items()
        if what in frames
    ]
    steps = steps_between(view, start_ns + since, start_ns + until)
    busy, moments = since_start(frames["busy"], start_ns), pd.concat(drawn)
    parts = {*busy["part"], *moments["part"]}
    timeline_chart.legend(parts)
    strips = {"": timeline_chart.strip(busy)}
    if more:
        strips |= more.drawn({what: since_start(frames[what], start_ns) for what in above})
    timeline_chart.draw(
        strips,
        moments,
        since,
        until,
        parts=parts,
        details=DETAILS,
        origin="recording",
        key=f"timeline-{view.run}-{view.device.label if view.device else ''}",
        file=f"{view.files}-timeline",
        of=str(view.run),
        on_zoom=zoom.TIME.to,
        steps=since_start(steps, start_ns),
    )
    sentences = ["Drag to zoom in.", *([more.text] if more else [])]
    if len(steps):
        sentences.append("Dashed lines mark the start and end of a step.")
    left_out = [
        f"the {most:,} longest {items}"
        for what, (most, items) in LIMITS.items()
        if len(frames.get(what, ())) > most
    ]
    if left_out:
        sentences.append(f"The timeline shows {' and '.join(left_out)}. Zoom in to see all.")
    st.caption(" ".join(sentences))


@cache
def _scroller() -> component.Component:
    """Return the component that scrolls to the timeline when a gap is selected below it."""
    top = '<div class="top" style="scroll-margin-top: 1rem"></div>'
    return component.define("scroller", top, SCROLL)


def described(view: View, visible: tuple[int, int], of_steps: tuple[int, int], whole: int) -> str:
    """Return a text about the time range that the timeline shows."""
    described = zoom.described(*visible, whole)
    if visible == (0, whole):
        return described
    if visible == of_steps:
        label = "The measured time" if view.steps.is_whole else view.steps.label.capitalize()
        return f"**{label}**: {described}"
    return f"**Zoomed in**: {described}"


def steps_between(view: View, since_ns: int, until_ns: int) -> pd.DataFrame:
    """Return the steps in a time range, with their wall time, or no rows if there are too many."""
    query = select(
        "step, work_start_ns AS start_ns, work_end_ns AS end_ns",
        "step_metrics",
        {
            **view.where(),
            "step >=": 0,
            "work_start_ns <": until_ns,
            "work_end_ns >": since_ns,
        },
        order_by="work_start_ns",
        limit=MAX_STEPS + 1,
    )
    frame = data.rows(query)
    return frame if len(frame) <= MAX_STEPS else frame.head(0)


def _queries(view: View, since_ns: int, until_ns: int) -> dict[str, Query]:
    """Return the queries of the charts for a range of Unix times in ns."""
    rank = view.device.rank if view.device else 0
    inside = {"start_ns <": until_ns, "end_ns >": since_ns}
    longest = "dur_ns DESC, start_ns"
    part = "class" if view.is_host else ingest.literal(timeline_chart.HOST)
    host = select(
        f"lane, {part} AS part, start_ns, end_ns, dur_ns, name, op",
        "work_item_timeline",
        {"run_id": view.run, "rank": rank, "measure": "host", **inside},
        order_by=longest,
        limit=MAX_ACTIVITIES + 1,
    )
    time_range = [since_ns, until_ns, BINS]
    columns = "start_ns, end_ns, part, part_ns, percent"
    if view.is_host:
        arguments = [view.run, rank, *time_range]
        busy = call(columns, "host_occupancy", arguments, "start_ns, part")
        gaps = select(
            f"{ingest.literal(timeline_chart.GAPS)} AS lane, part, start_ns, end_ns, dur_ns",
            "host_stretches_between",
            {"is_idle": True},
            arguments=(view.run, rank, since_ns, until_ns),
            order_by=longest,
            limit=MAX_GAPS + 1,
        )
        return {"busy": busy, "gaps": gaps, "host": host}
    where = {**view.where(), **inside}
    device = view.device.device if view.device else None
    arguments = [view.run, rank, device, *time_range]
    return {
        "busy": call(columns, "device_occupancy", arguments, "start_ns, part"),
        "gaps": select(
            COLUMNS,
            "activity_timeline",
            {**where, "lane": timeline_chart.GAPS},
            order_by=longest,
            limit=MAX_GAPS + 1,
        ),
        "activities": select(
            COLUMNS,
            "activity_timeline",
            {**where, "lane <>": timeline_chart.GAPS},
            order_by=longest,
            limit=MAX_ACTIVITIES + 1,
        ),
        "host": host,
    }


def recorded(view: View) -> tuple[int, int]:
    """Return the start and the end of the recording of the view's rank as Unix times in ns."""
    assert view.device
    return timeline_link.recorded(str(view.run), view.device.rank) or (0, 0)


def range_of_steps(view: View, start_ns: int, whole: int) -> tuple[int, int]:
    """Return the start and the end of the steps' wall time, in ns since `start_ns`."""
    query = (
        select("min(start_ns) AS start_ns, max(end_ns) AS end_ns", "measured_windows", view.where())
        if view.steps.is_whole
        else select(
            "min(work_start_ns) AS start_ns, max(work_end_ns) AS end_ns",
            "step_metrics",
            view.of_steps(),
        )
    )
    (row,) = data.rows(query).itertuples()
    return max(0, int(row.start_ns) - start_ns), min(whole, int(row.end_ns) - start_ns)


def since_start(frame: pd.DataFrame, start_ns: int) -> pd.DataFrame:
    """Return the rows with times in ns since `start_ns`.

    A browser's numbers are too inexact for Unix times in ns.
    """
    return frame.assign(**{column: frame[column] - start_ns for column in ("start_ns", "end_ns")})

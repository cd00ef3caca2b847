"""Page Streams: queues, launches, copies and overlap on the streams of a device."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.streams import launches, over_time, section
from dashboard.widgets import incomplete_runs, menu, metrics, timeline
from dashboard.widgets.view import View
from ingest.server import select

# The causes of `stream_idle`: the part of a step whose colour it has, and its label.
CAUSES = {
    "host_wait": ("host", "launched late"),
    "kernel_wait": ("launch", "short gap"),
    "other": ("dependency", "longer gap"),
    "unknown": ("unknown", "launch unknown"),
}
CAUSES_HELP = (
    "Launched late: the next activity was launched after the stream became idle. Short gap: it was "
    "launched earlier. Longer gap (30 µs or more): it was launched earlier, and waited for "
    "something else, such as another stream."
)


def page(view: View) -> None:
    """Draw the page."""
    if view.device is None:
        incomplete_runs.no_activity(str(view.run))
        return
    if view.is_host:
        st.info(incomplete_runs.no_device([str(view.run)]), icon=":material/memory:")
        return
    metrics.of_view(view)
    timeline.show(view, over_time.STRIPS)
    left, right = st.container(key="beside-idle").columns([3, 2], gap="medium")
    with left:
        _idle(view)
    with right:
        _queues(view)
    left, right = st.container(key="beside-overlap").columns([2, 3], gap="medium")
    with left:
        _overlap(view)
    with right:
        _copies(view)
    launches.show(view)


def _idle(view: View) -> None:
    """Show how long each stream was idle between its activities, and why."""
    query = select(
        "stream, cause, gaps, idle_ns, max_ns",
        "stream_idle",
        view.of_device(),
        arguments=(view.run, *view.steps.bounds),
        order_by="stream, cause",
    )
    menu.heading("Idle time", {"idle": query}, "stream-idle", CAUSES_HELP, files=view.files)
    frame = data.rows(query)
    if frame.empty:
        st.caption("No stream has a gap.")
        return
    charts.legend({text: colours.of(like) for like, text in CAUSES.values()})
    rows = [
        {
            "stream": stream,
            "idle_ns": causes["idle_ns"].sum(),
            "parts": _parts(causes),
            "gaps": causes["gaps"].sum(),
            "max_ns": causes["max_ns"].max(),
        }
        for stream, causes in frame.groupby("stream", dropna=False)
    ]
    tables.show(
        pd.DataFrame(rows),
        "stream_idle",
        key="stream-idle",
        labels={"idle_ns": "idle", "parts": "why", "max_ns": "longest gap"},
        stacks=["parts"],
    )


def _parts(causes: pd.DataFrame) -> list[tuple[float, str, str]]:
    """Return each cause's share of a stream's idle time in percent, its colour and its text."""
    total_ns = causes["idle_ns"].sum()
    by_cause = causes.set_index("cause")
    return [
        (
            100 * float(row["idle_ns"]) / total_ns,
            colours.of(like),
            f"{text}: {formatting.duration(row['idle_ns'])}, "
            f"{formatting.counted(int(row['gaps']), 'gap')}",
        )
        for cause, (like, text) in CAUSES.items()
        if cause in by_cause.index
        for row in [by_cause.loc[cause]]
    ]


def _queues(view: View) -> None:
    """Show how full the queue of each stream was."""
    query = select(
        "stream, launches, mean_length, max_length, waiting_ns, full_ns",
        "queue_statistics",
        view.of_device(),
        arguments=(view.run, *view.steps.bounds),
        order_by="stream",
    )
    section.show(
        view,
        "Queues",
        query,
        "queue_statistics",
        {
            "mean_length": "mean length",
            "max_length": "longest",
            "waiting_ns": "not empty",
            "full_ns": "full",
        },
        nothing=launches.NOTHING,
        help="A queue holds launches whose work has not begun. A longer queue means that the host "
        "is further ahead. A queue is full at 1,024 launches: the next launch blocks the host.",
    )


def _overlap(view: View) -> None:
    """Show which classes of activities ran at the same time."""
    query = select(
        "array_to_string(classes, ' + ') AS classes, percent, dur_ns",
        "class_overlap",
        view.of_device(),
        arguments=(view.run, *view.steps.bounds),
        order_by="dur_ns DESC, classes",
    )
    section.show(
        view,
        "At the same time",
        query,
        "class_overlap",
        {"classes": "what ran", "dur_ns": "time"},
        nothing="Nothing ran on the device in these steps.",
        bars=("dur_ns",),
        help="Time in which only these classes ran. The rows add up to the busy time.",
    )
    query = select(
        "percent",
        "communication_overlap",
        view.of_device(),
        arguments=(view.run, *view.steps.bounds),
    )
    for row in data.rows(query).itertuples():  # no row without communication
        share = formatting.percent(row.percent)
        st.caption(f"{share} of the communication time overlaps computation on the device.")


def _copies(view: View) -> None:
    """Show how much each kind of copy moved, and how fast."""
    query = select(
        "copy, copies, bytes, device_ns, gb_per_s, max_gb_per_s",
        "copy_statistics",
        view.of_device(),
        arguments=(view.run, *view.steps.bounds),
        order_by="device_ns DESC, copy",
    )
    section.show(
        view,
        "Copies",
        query,
        "copy_statistics",
        {"device_ns": "time", "gb_per_s": "rate", "max_gb_per_s": "fastest"},
        nothing="Nothing was copied in these steps.",
        bars=("device_ns",),
    )

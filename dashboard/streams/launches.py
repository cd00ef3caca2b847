"""The launches of the steps: how long the calls took, and how long the launched work waited."""

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.streams import section
from dashboard.widgets import menu, timeline_link
from dashboard.widgets.view import View
from ingest.server import select

LONG_CALL_NS, LONG_DELAY_NS = 50_000, 100_000
FIRST_BAR_NS = 1_000  # shorter delays count in the first bar
BARS = 4  # per power of ten
MAX_DELAYS = 100
HEIGHT = 240
NOTHING = "No launch was recorded in these steps."


def show(view: View) -> None:
    """Show the delays as a histogram, the calls by API function, and the longest delays."""
    left, right = st.container(key="beside-launches").columns([2, 3], gap="medium")
    with left:
        _histogram(view)
    with right:
        _by_api(view)
    _longest(view)


def _histogram(view: View) -> None:
    query = select(
        f"floor({BARS} * log10(greatest(delay_ns, {FIRST_BAR_NS})))::INTEGER AS bar, "
        "count(*) AS launches",
        "launch_calls",
        view.of_steps(),
        group_by="bar",
        order_by="bar",
    )
    menu.heading(
        "Launch delays",
        {"delays": query},
        "launch-delays",
        help="Time from the end of a launch call to the start of the work that it launched.",
        files=view.files,
    )
    frame = data.rows(query)
    if frame.empty:
        st.caption(NOTHING)
        return
    since, until = (10 ** ((frame["bar"] + more) / BARS) for more in (0, 1))
    shown = pd.DataFrame(
        {
            "since": since / 1000,
            "until": until / 1000,
            "launches": frame["launches"],
            "delay": [
                f"{formatting.duration(a)} to {formatting.duration(b)}"
                if a > FIRST_BAR_NS
                else f"up to {formatting.duration(b)}"
                for a, b in zip(since, until, strict=True)
            ],
        }
    )
    chart = (
        alt.Chart(shown)
        .mark_rect(color=colours.of("launch"))
        .encode(
            x=alt.X("since:Q", scale=alt.Scale(type="log", nice=False), title="delay (µs)"),
            x2=alt.X2("until:Q"),
            y=alt.Y("launches:Q", title="launches"),
            y2=alt.datum(0),
            tooltip=charts.tooltips("delay:N", "launches:Q"),
        )
        .properties(height=HEIGHT)
    )
    st.altair_chart(chart, alt="Launches by how long the launched work waited")


def _by_api(view: View) -> None:
    query = select(
        "api, launches, call_ns, max_call_ns, max_delay_ns, short_launches, long_calls, "
        "long_delays",
        "launch_statistics",
        view.of_device(),
        arguments=(view.run, *view.steps.bounds, LONG_CALL_NS, LONG_DELAY_NS),
        order_by="call_ns DESC, api",
    )
    found = section.show(
        view,
        "Launching calls",
        query,
        "launch_statistics",
        {
            "api": "call",
            "call_ns": "call time",
            "max_call_ns": "longest call",
            "max_delay_ns": "longest delay",
            "short_launches": "short work",
            "long_calls": f"over {formatting.duration(LONG_CALL_NS)}",
            "long_delays": f"delay over {formatting.duration(LONG_DELAY_NS)}",
        },
        nothing=NOTHING,
        bars=("call_ns",),
    )
    if len(found):
        st.caption("Short work: launches whose work took less time than the call that launched it.")


def _longest(view: View) -> None:
    device = view.device
    assert device
    query = select(
        "delay_ns, dur_ns, api, kernel, op, step, start_ns, kernel_id",
        "launch_calls",
        {**view.of_steps(), "delay_ns >": LONG_DELAY_NS},
        order_by="delay_ns DESC, start_ns, launch_id",
        limit=MAX_DELAYS,
    )
    menu.heading("Longest delays", {"delays": query}, "longest-delays", files=view.files)
    frame = data.rows(query)
    if frame.empty:
        st.caption(f"No delay is longer than {formatting.duration(LONG_DELAY_NS)}.")
        return

    def clicked(rows: list[int]) -> None:
        for launch in frame.iloc[rows].itertuples():
            of_kernel = {"run_id": view.run, "event_id": int(launch.kernel_id)}
            (kernel,) = data.rows(select("start_ns, dur_ns", "kernels", of_kernel)).itertuples()
            times = (int(kernel.start_ns), int(kernel.dur_ns), int(launch.start_ns))
            timeline_link.open_on_click(view.address(), device.rank, *times)

    tables.show(
        frame,
        "launch_calls",
        key="longest-delays",
        hidden=["start_ns", "kernel_id"],
        labels={"delay_ns": "delay", "dur_ns": "call time", "api": "call"},
        bars=["delay_ns"],
        select="single-row",
        on_select=clicked,
    )
    most = f"The {MAX_DELAYS} longest delays. " if len(frame) == MAX_DELAYS else ""
    st.caption(f"{most}Click a row to see it in the timeline, from the launch to the kernel.")

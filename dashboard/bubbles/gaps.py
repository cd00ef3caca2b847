"""The gaps of a device: the longest ones, and what the host was doing in all of them."""

import streamlit as st

from dashboard import data
from dashboard.query import select
from dashboard.widgets import formatting, menu, tables, timeline, timeline_chart, zoom
from dashboard.widgets.view import View

MOST = 200
MOST_HOSTS = 1_000


def show(view: View, cause: str | None) -> None:
    """Two tables, of one cause or of all."""
    st.subheader(f"Gaps: {cause}" if cause else "Gaps", anchor=False)
    longest, hosts = st.tabs(["Longest gaps", "What the host was doing"])
    with longest:
        _longest(view, cause)
    with hosts:
        query = select(
            "cause, host_op, host_frame, bubble_ns, bubbles, longest_ns",
            "bubbles_of_steps",
            {**view.of_device(), **({"cause": cause} if cause else {})},
            arguments=(view.run, *view.steps.bounds),
            order_by="bubble_ns DESC, bubbles DESC",
        )
        tables.show(
            data.rows(query).head(MOST_HOSTS),
            "bubble_hosts",
            key="bubble-hosts",
            hidden=["cause"] if cause else [],
            bars=["bubble_ns"],
        )
        menu.show({"hosts": query}, "bubble-hosts")


def _longest(view: View, cause: str | None) -> None:
    where = {**view.of_steps(), "lane": timeline_chart.GAPS}
    query = select(
        "start_ns, dur_ns, part, op, host_frame, before_kernel, after_kernel, step, end_ns",
        "activity_timeline",
        {**where, "part": cause} if cause else where,
        order_by="dur_ns DESC, start_ns",
        limit=MOST,
    )
    frame = data.rows(query)
    if frame.empty:
        st.caption("No gap.")
        return
    frame = timeline.since_start(frame, timeline.recorded(view)[0])
    rows = tables.show(
        frame,
        "activity_timeline",
        key=f"gaps-{view.key}-{cause}",
        hidden=["end_ns", *(["step"] if frame["step"].nunique() == 1 else [])],
        labels={"start_ns": "at", "part": "cause", "op": "host op"},
        bars=["dur_ns"],
        select="single-row",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        menu.show({"gaps": query}, "gaps")
        st.caption(f"The longest {len(frame)}. Tick one for its names in full, and to zoom to it.")
    if not rows:
        return
    gap = frame.iloc[rows[0]]
    st.button(
        "Show it in the timeline",
        icon=":material/zoom_in:",
        on_click=zoom.TIME.to,
        args=(
            max(0, int(gap["start_ns"] - gap["dur_ns"] // 2)),
            int(gap["end_ns"] + gap["dur_ns"] // 2),
        ),
    )
    for column, heading in (
        ("op", "Host op"),
        ("host_frame", "Python frame"),
        ("before_kernel", "Before"),
        ("after_kernel", "After"),
    ):
        if not formatting.missing(gap[column]):
            st.caption(heading)
            st.code(str(gap[column])[:4_000], language=None, wrap_lines=True)

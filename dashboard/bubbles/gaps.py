"""The longest gaps of a device, and what the host was doing in all gaps."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import colours, formatting, tables
from dashboard.widgets import menu, timeline, timeline_link, url, zoom
from dashboard.widgets.view import View
from ingest.server import select

MAX_GAPS = 200
MAX_HOSTS = 1_000
MIN_MARGIN_NS = 1_000  # the least time that the timeline shows on each side of a gap
# The details of a gap show the full text of these columns.
NAMES = {
    "host_op": "Host op",
    "host_frame": "Python frame",
    "before_kernel": "Before",
    "after_kernel": "After",
}
BEFORE_STEP = (
    "A gap's time here includes the part before its step. Idle counts only the part in the step, "
    "so the totals can differ."
)


def show(view: View, cause: str | None) -> None:
    """Show the longest gaps, of one cause or of all causes.

    Next to them, show the details of the ticked gap, or the host's work in all gaps.
    """
    left, right = st.container(key="beside-gaps").columns([3, 2], gap="medium")
    with left:
        heading = menu.heading_line(f"Gaps: {cause}" if cause else "Gaps")
        gap = _longest(view, cause, heading)
    with right:
        if gap is None:
            _hosts(view, cause)
        else:
            _detail(view, gap)


def _longest(view: View, cause: str | None, heading: Any) -> pd.Series | None:
    """Draw the table and return the ticked gap. It is in the address, and the timeline shows it."""
    query = select(
        "start_ns, dur_ns, cause, host_op, host_frame, before_kernel, after_kernel, step, "
        "start_ns + dur_ns AS end_ns",
        "measured_bubbles",
        {**view.of_steps(), **({"cause": cause} if cause else {})},
        order_by="dur_ns DESC, start_ns",
        limit=MAX_GAPS,
    )
    with heading:
        menu.show({"gaps": query}, "gaps", view.files)
    frame = data.rows(query)
    if frame.empty:
        st.caption("There are no gaps.")
        return None
    frame = timeline.since_start(frame, timeline.recorded(view)[0])

    def ticked(rows: list[int]) -> None:
        if not rows:
            st.query_params.pop(zoom.GAP, None)
            zoom.TIME.reset()
            return
        start_ns, end_ns = (int(frame[edge].iloc[rows[0]]) for edge in ("start_ns", "end_ns"))
        around = max(MIN_MARGIN_NS, (end_ns - start_ns) // 2)
        zoom.TIME.to(max(0, start_ns - around), end_ns + around, **{zoom.GAP: str(start_ns)})

    starts = list(frame["start_ns"].astype(str))
    chosen = st.query_params.get(zoom.GAP)
    selected = [starts.index(chosen)] if chosen in starts else []
    tables.show(
        frame,
        "measured_bubbles",
        key=f"gaps-{view.key}-{cause}",
        hidden=[
            *("end_ns", "before_kernel"),
            *(["step"] if frame["step"].nunique() == 1 else []),
            *(["cause"] if cause else []),
        ],
        labels={"start_ns": "at", "after_kernel": "ended by"},
        bars=["dur_ns"],
        select="single-row",
        selected=selected,
        on_select=ticked,
    )
    notes = [f"The longest {len(frame)}. Tick one to zoom to it and to see its full names."]
    st.caption(" ".join(notes if view.steps.is_whole else [*notes, BEFORE_STEP]))
    if not selected:
        url.remember(zoom.GAP, None)
        return None
    return frame.iloc[selected[0]]


def _hosts(view: View, cause: str | None) -> None:
    """Show what the host did in the gaps."""
    query = select(
        "cause, idle_ns, host_op, host_frame, bubbles, longest_ns",
        "bubbles_of_steps",
        {**view.of_device(), **({"cause": cause} if cause else {})},
        arguments=(view.run, *view.steps.bounds),
        order_by="idle_ns DESC, bubbles DESC",
    )
    menu.heading("What the host was doing", {"hosts": query}, "bubble-hosts", files=view.files)
    tables.show(
        data.rows(query).head(MAX_HOSTS),
        "bubbles_of_steps",
        key="bubble-hosts",
        hidden=["cause"] if cause else [],
        bars=["idle_ns"],
    )


def _detail(view: View, gap: pd.Series) -> None:
    """Show a gap: its cause, its start, and its full names."""
    st.subheader(f"A gap of {formatting.duration(gap['dur_ns'])}", anchor=False)
    st.caption(f"{colours.label(gap['cause'])}, from {formatting.duration(gap['start_ns'])}")
    if view.device:
        start_ns = timeline.recorded(view)[0] + int(gap["start_ns"])
        timeline_link.show(view.address(), view.device.rank, start_ns, int(gap["dur_ns"]))
    for column, heading in NAMES.items():
        if not formatting.missing(gap[column]):
            st.caption(heading)
            st.code(str(gap[column])[:4_000], language=None, wrap_lines=True)

"""The kernels of two runs, largest changes first, and what launched a kernel on each side."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import op_rows, operators, sections
from dashboard.compare.pair import Pair
from dashboard.drawing import colours, formatting, tables
from dashboard.widgets import menu, run_picker, timeline_link
from ingest.server import reports, select

MAX_ROWS = 200
HINT = "Click a row to see what launched the kernel on each side, and with which shapes."


def show(pair: Pair) -> None:
    """Show the kernels when the user opens the section; for hosts, the outermost operators."""
    st.subheader(sections.TITLES[sections.KERNELS], anchor=sections.KERNELS)
    opened = st.expander("All kernels, largest changes first", key="all-kernels", on_change="rerun")
    if opened.open:
        with opened:
            _table(pair)


def _table(pair: Pair) -> None:
    columns = (
        "name, base_ns, other_ns, change_ns, percent AS change_percent, base_calls, other_calls"
    )
    query = reports.diff.changes("kernel", pair.arguments, columns)
    frame = data.rows(query)
    ticked = tables.show(
        _written(frame.head(MAX_ROWS)),
        "kernel_diff",
        key=f"kernels-{pair.key}",
        labels=operators.HEADINGS | {"calls_from_to": "calls"},
        bars=["change_ns"],
        colours=[colours.NEUTRAL] * min(len(frame), MAX_ROWS),
        select="single-row",
    )
    sums = frame[["base_ns", "other_ns", "change_ns"]].sum()
    text = f"{formatting.counted(len(frame), 'name')}: {formatting.duration(sums['base_ns'])} → "
    text += f"{formatting.duration(sums['other_ns'])} ({formatting.change(sums['change_ns'])})"
    menu.show({"kernels": query}, "kernel-diff")
    more = f" The first {MAX_ROWS} are shown." if len(frame) > MAX_ROWS else ""
    st.caption(f"{text}.{more} {HINT}")
    if ticked:
        _launches(pair, str(frame["name"].iloc[ticked[0]]))


def _launches(pair: Pair, kernel: str) -> None:
    """Show what launched a kernel, with links to the longest activities of the ticked row."""
    st.markdown(f"**{formatting.literal(formatting.short_name(kernel))}**")
    query = select(
        "op, shapes, grid, block, base_ns, other_ns, change_ns, percent AS change_percent, "
        "base_calls, other_calls, base_longest, other_longest",
        "launch_diff",
        {"name": kernel},
        arguments=pair.arguments,
        order_by="abs(change_ns) DESC, base_ns DESC, op, shapes, grid, block",
    )
    frame = data.rows(query).head(MAX_ROWS)
    ticked = tables.show(
        _written(frame),
        "launch_diff",
        key=f"launches-{pair.key}-{kernel}",
        hidden=["base_longest", "other_longest"],
        labels=operators.HEADINGS | {"calls_from_to": "calls"},
        bars=["change_ns"],
        colours=[colours.NEUTRAL] * len(frame),
        select="single-row",
    )
    if len(frame) == MAX_ROWS:
        st.caption(f"The first {MAX_ROWS} rows are shown. The menu has all of them.")
    with st.container(horizontal=True, vertical_alignment="center"):
        menu.show({"launches": query}, "launch-diff")
        if ticked:
            _longest(pair, frame.iloc[ticked[0]])
        else:
            st.caption("Click a row to find its longest activities in the timeline.")


def _longest(pair: Pair, row: pd.Series) -> None:
    """Show links to the longest activity of a row in each run."""
    for side, run in pair.runs.items():
        longest = row[f"{side}_longest"]
        if not formatting.missing(longest):
            label = f"The longest in {formatting.literal(run)}"
            times = int(longest["start_ns"]), int(longest["dur_ns"])
            timeline_link.show({run_picker.RUN_KEY: run}, int(longest["rank"]), *times, label)


def _written(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the calls of both sides in one column."""
    base, other = (frame[side].map(formatting.count) for side in ("base_calls", "other_calls"))
    calls = op_rows.from_to(base, other)
    return frame.drop(columns=["base_calls", "other_calls"]).assign(calls_from_to=calls)

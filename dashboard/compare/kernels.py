"""The kernels of two runs, largest changes first."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import op_rows, operators, sections
from dashboard.compare.pair import Pair
from dashboard.drawing import colours, formatting, tables
from dashboard.query import select
from dashboard.widgets import menu

MOST_ROWS = 200


def show(pair: Pair) -> None:
    """Show the kernels when the user opens the section; for hosts, the outermost operators."""
    st.subheader(sections.TITLES[sections.KERNELS], anchor=sections.KERNELS)
    opened = st.expander("All kernels, largest changes first", key="all-kernels", on_change="rerun")
    if opened.open:
        with opened:
            _table(pair)


def _table(pair: Pair) -> None:
    query = select(
        "name, base_ns, other_ns, change_ns, percent AS change_percent, base_calls, other_calls",
        "kernel_diff",
        arguments=pair.arguments,
        order_by="abs(change_ns) DESC, base_ns DESC, name",
    )
    frame = data.rows(query)
    tables.show(
        _written(frame.head(MOST_ROWS)),
        "kernel_diff",
        key=f"kernels-{pair.key}",
        labels=operators.HEADINGS | {"calls_from_to": "calls"},
        bars=["change_ns"],
        colours=[colours.NEUTRAL] * min(len(frame), MOST_ROWS),
    )
    sums = frame[["base_ns", "other_ns", "change_ns"]].sum()
    text = f"{formatting.counted(len(frame), 'name')}: {formatting.duration(sums['base_ns'])} → "
    text += f"{formatting.duration(sums['other_ns'])} ({formatting.change(sums['change_ns'])})"
    menu.show({"kernels": query}, "kernel-diff")
    more = f" The first {MOST_ROWS} are shown." if len(frame) > MOST_ROWS else ""
    st.caption(f"{text}.{more}")


def _written(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the calls of both sides in one column."""
    base, other = (frame[side].map(formatting.count) for side in ("base_calls", "other_calls"))
    calls = op_rows.from_to(base, other)
    return frame.drop(columns=["base_calls", "other_calls"]).assign(calls_from_to=calls)

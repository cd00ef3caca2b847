"""Operators by the host's own time: for runs without a device."""

from collections.abc import Sequence

import streamlit as st

from dashboard import data
from dashboard.operators import detail
from dashboard.query import select
from dashboard.widgets import charts, formatting, run_picker, show_sql, tables

MOST_ROWS = 2_000
BARS = 20
TOP = 3


def show(picked: Sequence[str]) -> None:
    """A chart and a table of all picked runs; ticking a row shows its shapes and calls."""
    search = run_picker.search("part of a name")
    query = select(
        "run_id, rank, op, self_ns, total_ns, calls, percent",
        "host_op_ranking",
        {"run_id": picked},
        containing=("op", search),
        order_by="self_ns DESC, op",
    )
    frame = data.rows(query)
    if frame.empty:
        st.info("No operator fits.", icon=":material/search_off:")
        return
    top = frame.head(TOP)
    st.markdown(formatting.top_line(zip(top["op"], top["self_ns"], top["percent"], strict=True)))
    left, right = st.columns([2, 3], gap="medium")
    with left:
        charts.host_bars(frame.head(BARS))
        show_sql.show(query, "chart")
    with right:
        names = list(frame["op"].head(MOST_ROWS))
        asked = st.query_params.get("name")
        one = [column for column in ("run_id", "rank") if frame[column].nunique() == 1]
        rows = tables.show(
            frame.head(MOST_ROWS),
            "host_op_ranking",
            key=f"host-{'-'.join(picked)}-{search}",
            hidden=one,
            select="single-row",
            selected=[names.index(asked)] if asked in names else [],
        )
        with st.container(horizontal=True):
            show_sql.show(query, "table")
            tables.downloads(query, "host-ranking", "host")
    run_picker.remember("name", names[rows[0]] if rows else None)
    if rows:
        row = frame.iloc[rows[0]]
        detail.show_host(str(row["run_id"]), int(row["rank"]), str(row["op"]))

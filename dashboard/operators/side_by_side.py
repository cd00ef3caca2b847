"""Operators of several runs, side by side."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import select
from dashboard.widgets import charts, colours, compare_link, formatting, show_sql, tables

MOST_RUNS = len(colours.RUNS)
MOST_ROWS = 2_000
RUN_PIXELS = 180
BARS = 10


def page(picked: Sequence[str], level: str, search: str) -> None:
    """A column for each run; names in the order of the time they took in any of them."""
    runs = list(picked[:MOST_RUNS])
    if len(picked) > MOST_RUNS:
        st.warning(f"The first {MOST_RUNS} of {len(picked)} runs are compared.")
    _metrics(runs)
    if len(runs) == 2:
        compare_link.show_by_age(runs, "What changed from one to the other, and why")
    query = select(
        "run_id, name, device_ns, calls, percent",
        "ranking_over_all",
        {"run_id": runs, "level": level},
        containing=("name", search),
        order_by="device_ns DESC, name",
    )
    frame = data.rows(query)
    if frame.empty:
        st.info("Nothing has that in its name; clear the search.", icon=":material/search_off:")
        return
    first = list(dict.fromkeys(frame["name"]))[:BARS]
    bars = frame[frame["name"].isin(first)].rename(columns={"device_ns": "ns"})
    charts.grouped_bars(bars, runs, "device time")
    _table(side_by_side(frame, runs).head(MOST_ROWS), runs)
    with st.container(horizontal=True):
        show_sql.show(query)
        tables.downloads(query, f"{level}-ranking-of-{len(runs)}-runs", "compare")


def side_by_side(frame: pd.DataFrame, runs: Sequence[str]) -> pd.DataFrame:
    """One row a name, one column a run with its device time; in the order of the rows."""
    order = list(dict.fromkeys(frame["name"]))
    wide = frame.pivot(index="name", columns="run_id", values="device_ns").astype("Int64")
    return wide.reindex(index=order, columns=list(runs)).reset_index()


def _metrics(runs: Sequence[str]) -> None:
    query = select(
        "run_id, span_ns, busy_ns, bubble_ns, bubble_percent, activities",
        "run_overview",
        {"run_id": runs},
        order_by="run_id",
    )
    frame = data.rows(query)
    tables.show(frame, "run_overview", key="compared", labels={"run_id": "run"})
    show_sql.show(query, "runs")
    without = [formatting.literal(run) for run in frame["run_id"][frame["activities"] == 0]]
    if without:
        st.caption(f"Without device activity, and so without device time: {', '.join(without)}.")


def _table(wide: pd.DataFrame, runs: Sequence[str]) -> None:
    config = {"name": st.column_config.Column("name", width=tables.NAME_PIXELS, pinned=True)}
    for run in runs:
        config[run] = st.column_config.Column(
            formatting.clipped(run, 40),
            help=f"Device time in {formatting.literal(run)}",
            alignment="right",
            width=RUN_PIXELS,
        )
    styled = tables.clipped(wide).style.format(
        {"name": formatting.short_name, **dict.fromkeys(runs, formatting.duration)},
        na_rep=formatting.NONE,
    )
    st.dataframe(
        styled,
        hide_index=True,
        column_config=config,
        height=tables.height(len(wide)),
        key="side-by-side",
        placeholder=formatting.NONE,
    )

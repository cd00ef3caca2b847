"""Operators of several runs, side by side."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.widgets import compare_link, menu, page_change, run_picker, url
from ingest.server import reports, select

MAX_RUNS = len(colours.RUNS)
MAX_ROWS = 2_000
BARS = 10


def page(picked: Sequence[str], level: str) -> None:
    """Draw a column for each run. The order is by the longest time of a name in any run."""
    runs = list(picked[:MAX_RUNS])
    if len(picked) > MAX_RUNS:
        st.warning(f"Only the first {MAX_RUNS} of {len(picked)} runs are shown.")
    _metrics(runs)
    search = url.search("filter by name")
    if len(runs) == 2:
        compare_link.show_by_age(runs, "What changed between them, and why")
    section = reports.top.over_all(runs, level, search=search)
    frame = data.rows(section.query)
    if frame.empty:
        st.info("No name contains this text. Clear the search.", icon=":material/search_off:")
        return
    first = list(dict.fromkeys(frame["name"]))[:BARS]
    bars = frame[frame["name"].isin(first)].rename(columns={"device_ns": "ns"})
    left, right = st.container(key="beside-sides").columns([3, 2], gap="medium")
    with left:
        name = f"{level}-ranking-of-{len(runs)}-runs"
        menu.heading(section.title, {"ranking": section.query}, name)
        wide = side_by_side(frame, runs).head(MAX_ROWS)
        tables.show(
            wide.rename(columns={run: f"{run}_ns" for run in runs}),
            section.view,
            key="side-by-side",
            labels={f"{run}_ns": run for run in runs},
        )
    with right:
        charts.grouped_bars(
            bars,
            runs,
            "device time",
            lambda name, run: page_change.stay({run_picker.RUN_KEY: run, "name": name}),
        )


def side_by_side(frame: pd.DataFrame, runs: Sequence[str]) -> pd.DataFrame:
    """Return device times with a row per name and a column per run, in the order of `frame`."""
    order = list(dict.fromkeys(frame["name"]))
    wide = frame.pivot(index="name", columns="run_id", values="device_ns").astype("Int64")
    return wide.reindex(index=order, columns=list(runs)).reset_index()


def _metrics(runs: Sequence[str]) -> None:
    query = select(
        "run_id, span_ns, busy_ns, idle_ns, idle_percent, activities",
        "run_overview",
        {"run_id": runs},
        order_by="run_id",
    )
    frame = data.rows(query)
    menu.heading("The runs", {"runs": query}, "runs")
    tables.show(
        frame, "run_overview", key="compared", labels={"run_id": "run"}, bars=["idle_percent"]
    )
    without = [formatting.literal(run) for run in frame["run_id"][frame["activities"] == 0]]
    if without:
        st.caption(f"These runs have no device activity, so no device time: {', '.join(without)}.")

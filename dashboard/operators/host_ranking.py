"""Operators by the host's own time: for runs without a device."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.operators import detail
from dashboard.query import select
from dashboard.widgets import charts, colours, formatting, run_picker, show_sql, tables

MOST_ROWS = 2_000
BARS = 20
TOP = 3
MOST_PROCESSES = len(colours.RUNS)
RANKED = "of"  # in the address, beside the name that was ticked: its run and rank


def show(picked: Sequence[str]) -> None:
    """A chart and a table of all picked runs; ticking a row shows its shapes and calls."""
    search = run_picker.search("filter by name")
    query = select(
        "run_id, rank, name, self_ns, total_ns, calls, percent",
        "host_op_ranking",
        {"run_id": picked},
        containing=("name", search),
        order_by="self_ns DESC, name",
    )
    frame = data.rows(query)
    if frame.empty:
        st.info("No operator fits.", icon=":material/search_off:")
        return
    processes = _processes(frame)
    order = frame["run_id"].map(list(picked).index)
    rows = sorted(zip(order, frame["rank"], processes, strict=True))
    named = list(dict.fromkeys(process for *_, process in rows))
    for process in named:
        top = frame[processes == process].head(TOP)
        line = formatting.top_line(zip(top["name"], top["self_ns"], top["percent"], strict=True))
        st.markdown(f"**{formatting.literal(process)}**: {line}" if len(named) > 1 else line)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        if len(named) == 1:
            charts.host_bars(frame.head(BARS))
        else:
            _grouped(frame, processes, named[:MOST_PROCESSES])
        if len(named) > MOST_PROCESSES:
            st.caption(f"The first {MOST_PROCESSES} of {len(named)}; the table has all of them.")
        show_sql.show(query, "chart")
    with right:
        keys = [_key(*row) for row in frame[["name", "run_id", "rank"]].itertuples(index=False)]
        name, process = st.query_params.get("name"), st.query_params.get(RANKED)
        asked = [
            place
            for place, key in enumerate(keys[:MOST_ROWS])
            if key[0] == name and process in (None, key[1])
        ]
        one = [column for column in ("run_id", "rank") if frame[column].nunique() == 1]
        ticked = tables.show(
            frame.head(MOST_ROWS),
            "host_op_ranking",
            key=f"host-{'-'.join(picked)}-{search}",
            hidden=one,
            select="single-row",
            selected=asked[:1],
        )
        with st.container(horizontal=True):
            show_sql.show(query, "table")
            tables.downloads(query, "host-ranking", "host")
    name, process = keys[ticked[0]] if ticked else (None, None)
    run_picker.remember("name", name)
    run_picker.remember(RANKED, process)
    if ticked:
        row = frame.iloc[ticked[0]]
        detail.show_host(str(row["run_id"]), int(row["rank"]), str(row["name"]))


def _key(name: str, run: str, rank: int) -> tuple[str, str]:
    """What the address carries of a row."""
    return name, f"{run} {rank}"


def _processes(frame: pd.DataFrame) -> pd.Series:
    """The name of each row's process: its run, its rank or both, whatever differs."""
    runs = frame["run_id"]
    if frame["rank"].nunique() == 1:
        return runs
    ranks = "rank " + frame["rank"].astype(str)
    return ranks if runs.nunique() == 1 else runs + " " + ranks


def _grouped(frame: pd.DataFrame, processes: pd.Series, shown: list[str]) -> None:
    """Bars of the same operators in several processes, each of its own colour."""
    bars = pd.DataFrame(
        {
            "name": frame["name"],
            "run_id": processes,
            "ns": frame["self_ns"],
            "calls": frame["calls"],
        }
    )
    first = list(dict.fromkeys(frame["name"]))[: BARS // 2]
    bars = bars[bars["name"].isin(first) & bars["run_id"].isin(shown)]
    charts.grouped_bars(bars, shown, "host self time")

"""Operators by the host's own time: for runs without a device."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import charts, colours, tables
from dashboard.operators import detail
from dashboard.query import Query, Value, select
from dashboard.widgets import menu, metrics, run_picker, step_parts
from dashboard.widgets.view import View

MOST_ROWS = 2_000
BARS = 10
MOST_PROCESSES = len(colours.RUNS)
RANKED = "process"  # in the address, beside the name that was ticked: its run and rank


def show(runs: Sequence[str], view: View) -> None:
    """A table of the runs, and beside it a chart; ticking a row shows its shapes and calls."""
    steps = view.steps
    if view.run:
        metrics.of_view(view)
    left, right = st.container(key="beside-ranking").columns(2, gap="medium")
    with left:
        search = run_picker.search("filter by name")
        query = _query(runs, view, search)
        frame = data.rows(query)
        if frame.empty:
            st.info("No operator fits.", icon=":material/search_off:")
            return
        keys = [_key(*row) for row in frame[["name", "run_id", "rank"]].itertuples(index=False)]
        name, process = st.query_params.get("name"), st.query_params.get(RANKED)
        asked = [
            place
            for place, key in enumerate(keys[:MOST_ROWS])
            if key[0] == name and process in (None, key[1])
        ]
        menu.heading("By operator", {"ranking": query}, "host-ranking", files=view.files)
        ticked = tables.show(
            frame.head(MOST_ROWS),
            "host_op_ranking",
            key=f"host-{'-'.join(runs)}-{view.key}-{search}",
            hidden=[column for column in ("run_id", "rank") if frame[column].nunique() == 1],
            bars=["percent"],
            select="single-row",
            selected=asked[:1],
        )
        st.caption("Tick a row to see its shapes and calls.")
        st.caption("Shares are of the operators' own time on the host.")
    name, process = keys[ticked[0]] if ticked else (None, None)
    run_picker.remember("name", name)
    run_picker.remember(RANKED, process)
    with right:
        if ticked:
            row = frame.iloc[ticked[0]]
            detail.show_host(str(row["run_id"]), int(row["rank"]), str(row["name"]), steps)
        elif view.run:
            step_parts.show(view)
        else:
            _grouped(frame, runs)


def _query(runs: Sequence[str], view: View, search: str) -> Query:
    """The ranking of one run's steps, or of several whole runs."""
    options: Any = {"containing": ("name", search), "order_by": "self_ns DESC, name"}
    columns = "name, percent, self_ns, total_ns, calls, run_id, rank"
    if view.run is None or view.device is None or view.steps.is_whole:
        where: dict[str, Value] = {"run_id": runs}
        if view.device:
            where["rank"] = view.device.rank
        return select(columns, "host_op_ranking", where, **options)
    return select(
        columns.replace("run_id", f"{ingest.literal(view.run)} AS run_id"),
        "host_ranking_of_steps",
        {"rank": view.device.rank},
        arguments=(view.run, *view.steps.bounds),
        **options,
    )


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


def _grouped(frame: pd.DataFrame, runs: Sequence[str]) -> None:
    """Bars of the same operators in several processes, each of its own colour."""
    processes = _processes(frame)
    order = frame["run_id"].map(list(runs).index)
    rows = sorted(zip(order, frame["rank"], processes, strict=True))
    named = list(dict.fromkeys(process for *_, process in rows))
    shown = named[:MOST_PROCESSES]
    bars = pd.DataFrame(
        {
            "name": frame["name"],
            "run_id": processes,
            "ns": frame["self_ns"],
            "calls": frame["calls"],
        }
    )
    first = list(dict.fromkeys(frame["name"]))[:BARS]
    bars = bars[bars["name"].isin(first) & bars["run_id"].isin(shown)]
    charts.grouped_bars(bars, shown, "host self time")
    if len(named) > MOST_PROCESSES:
        st.caption(f"The first {MOST_PROCESSES} of {len(named)}; the table has all of them.")

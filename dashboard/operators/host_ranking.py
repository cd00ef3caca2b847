"""The ranking of operators by self time on the host, for runs without a device."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, tables
from dashboard.operators import detail
from dashboard.widgets import menu, metrics, page_change, run_picker, step_parts, url
from dashboard.widgets.view import View
from ingest.server import Section, reports

MAX_ROWS = 2_000
BARS = 10
MAX_PROCESSES = len(colours.RUNS)
RANKED = "process"  # URL parameter: the run and the rank of the ticked row


def show(runs: Sequence[str], view: View) -> None:
    """Draw the ranking, with a chart next to it. A ticked row shows its shapes and calls."""
    steps = view.steps
    if view.run:
        metrics.of_view(view)
    left, right = st.container(key="beside-ranking").columns(2, gap="medium")
    with left:
        search = url.search("filter by name")
        section = _section(runs, view, search)
        frame = data.rows(section.query)
        if frame.empty:
            unfiltered = f"No operator ran on the host in {view.steps.label}."
            text = "No name contains this text. Clear the search." if search else unfiltered
            st.info(text, icon=":material/search_off:")
            return
        keys = [_key(*row) for row in frame[["name", "run_id", "rank"]].itertuples(index=False)]
        name, process = st.query_params.get("name"), st.query_params.get(RANKED)
        selected = [
            index
            for index, key in enumerate(keys[:MAX_ROWS])
            if key[0] == name and process in (None, key[1])
        ]
        queries = {"ranking": section.query}
        menu.heading(section.title, queries, "host-ranking", files=view.files)
        ticked = tables.show(
            frame.head(MAX_ROWS),
            section.view,
            key=f"host-{'-'.join(runs)}-{view.key}-{search}",
            hidden=[column for column in ("run_id", "rank") if frame[column].nunique() == 1],
            bars=["percent"],
            select="single-row",
            selected=selected[:1],
            rest_px=440,
        )
        st.caption("Tick a row to see its shapes and calls.")
        st.caption("Shares are of the self time of all operators and compiled graphs on the host.")
    name, process = keys[ticked[0]] if ticked else (None, None)
    url.remember("name", name)
    url.remember(RANKED, process)
    with right:
        if ticked:
            row = frame.iloc[ticked[0]]
            detail.show_host(str(row["run_id"]), int(row["rank"]), str(row["name"]), steps)
        elif view.run:
            step_parts.show(view)
        else:
            _grouped(frame, runs)


def _section(runs: Sequence[str], view: View, search: str) -> Section:
    """Return the ranking of one run's steps, or of several complete runs."""
    rank = view.device.rank if view.device else None
    return reports.top.on_host(runs, rank, view.steps.bounds, search=search)


def _key(name: str, run: str, rank: int) -> tuple[str, str]:
    """Return the values in the address that identify a row."""
    return name, f"{run} {rank}"


def _processes(frame: pd.DataFrame) -> pd.Series:
    """Return each row's process: its run, its rank, or both, whichever differ."""
    runs = frame["run_id"]
    if frame["rank"].nunique() == 1:
        return runs
    ranks = "rank " + frame["rank"].astype(str)
    return ranks if runs.nunique() == 1 else runs + " " + ranks


def _grouped(frame: pd.DataFrame, runs: Sequence[str]) -> None:
    """Draw bars of the same operators in several processes, a colour for each process."""
    processes = _processes(frame)
    order = frame["run_id"].map(list(runs).index)
    rows = sorted(zip(order, frame["rank"], processes, strict=True))
    named = list(dict.fromkeys(process for *_, process in rows))
    shown = named[:MAX_PROCESSES]
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
    opened = frame.assign(process=processes).groupby("process")[["run_id", "rank"]].first()

    def open_host(name: str, process: str) -> None:
        run, rank = str(opened["run_id"][process]), int(opened["rank"][process])
        host = run_picker.Device(rank, None, is_host=True)
        address = {run_picker.RUN_KEY: run, page_change.DEVICE: host.label, "name": name}
        page_change.stay(address)

    charts.grouped_bars(bars, shown, "host self time", open_host)
    if len(named) > MAX_PROCESSES:
        st.caption(
            f"The first {MAX_PROCESSES} of {len(named)} processes. The table has all of them."
        )

"""A table that compares the base with several picked runs. A tick compares a run in detail."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.compare.pair import OTHER, Pair
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu
from ingest.server import Query, select

KEY = "several_runs"
MIN_RUNS = 3
CHANGES = {
    "busy": ("busy_ns", "busy_change_ns", formatting.duration),
    "idle": ("idle_ns", "idle_change_ns", formatting.duration),
    "peak memory": ("peak_bytes", "peak_change", formatting.size),
}


def show(pair: Pair, picked: Sequence[str]) -> None:
    """Show the table if several runs are picked and the base is a single run."""
    if len(picked) < MIN_RUNS or pair.groups is not None:
        return
    query = _query(pair, picked)
    frame = data.rows(query)
    if len(frame) < MIN_RUNS:
        return
    runs = [str(run) for run in frame["run_id"]]

    def tick(rows: list[int]) -> None:
        ticked = [runs[row] for row in rows if runs[row] != pair.other]
        if ticked and ticked[0] != pair.base:
            st.session_state[OTHER] = ticked[0]

    ticked = [row for row, run in enumerate(runs) if run == pair.other]
    tables.show(
        _written(pair, frame),
        "runs_against",
        key=KEY,
        labels={"wall_ns": "wall time", "change_ns": "change", "change_percent": "change, %"}
        | {f"{name}_from_to": name for name in CHANGES},
        select="single-row",
        selected=ticked,
        on_select=tick,
    )
    menu.show({"runs": query}, "runs-against")
    st.caption(_note(pair, frame, picked))


def _query(pair: Pair, picked: Sequence[str]) -> Query:
    others = dict.fromkeys([*picked, pair.other])
    arguments = [pair.base, [run for run in others if run != pair.base], pair.rank]
    macro = f"runs_against({', '.join(map(ingest.literal, arguments))})"
    return select("*", macro, order_by="wall_ns, run_id")


def _written(pair: Pair, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns: the side of a run, its wall time and change, and the other metrics."""
    sides = {pair.base: "from", pair.other: "to"}
    shown = pd.DataFrame({"side": frame["run_id"].map(sides).fillna(""), "run": frame["run_id"]})
    shown = shown.join(frame[["wall_ns", "change_ns", "change_percent"]])
    changes = ["change_ns", "change_percent"]
    shown[changes] = shown[changes].mask(frame["is_base"])
    for name, (column, change, written) in CHANGES.items():
        if frame[column].notna().any():
            shown[f"{name}_from_to"] = [
                _with_change(value, None if is_base else of_base, written)
                for value, of_base, is_base in zip(
                    frame[column], frame[change], frame["is_base"], strict=True
                )
            ]
    return shown


def _with_change(value: Any, change: Any, written: Callable[[Any], str]) -> str:
    if formatting.missing(value) or formatting.missing(change):
        return written(value)
    return f"{written(value)} ({formatting.change(change, written)})"


def _note(pair: Pair, frame: pd.DataFrame, picked: Sequence[str]) -> str:
    """Return the caption: the base of the changes, and which changes and runs are left out."""
    text = (
        f"The changes are relative to the median step of **{formatting.literal(pair.base)}**. Tick "
        "a run to compare it below."
    )
    if frame["change_ns"].isna().any():
        text += (
            " A run has no change if one of the two is measured on a host and the other on a "
            "device, or if one is a step and the other a whole recording."
        )
    if absent := len({*picked} - {*frame["run_id"]}):
        of_rank = "" if pair.rank is None else f" for rank {pair.rank}"
        text += f" Left out: {formatting.counted(absent, 'picked run')} without times{of_rank}."
    return text

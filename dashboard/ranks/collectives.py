"""The table of collectives by kind and size: how fast they are, and how much ranks wait in them."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu, timeline_link
from dashboard.widgets.view import View
from ingest.server import reports

MAX_ROWS = 2_000
HELP = (
    "Medians over the calls of the whole recording. Latency is the transfer of the rank that waits "
    "the least. Skew is the time between the first and the last rank that comes. Bandwidths are by "
    "NCCL's definitions."
)


def show(view: View) -> None:
    """Draw the table, the collectives with the most waiting first."""
    section = reports.rank_views.collectives(str(view.run))
    frame = data.rows(section.query)
    if not frame.empty:
        _table(view, section, frame)


def _table(view: View, section: reports.Section, frame: pd.DataFrame) -> None:
    shown = frame.head(MAX_ROWS)

    def clicked(chosen: list[int]) -> None:
        for row in shown.iloc[chosen].to_dict("records"):
            _open(view, row)

    menu.heading(
        section.title, {"collectives": section.query}, "collectives", HELP, files=view.files
    )
    tables.show(
        shown[
            [
                *("kind", "group_name", "bytes", "dtype", "calls", "matched_calls"),
                *("median_dur_ns", "transfer_ns", "skew_ns", "max_skew_ns", "wait_ns"),
                "bus_gb_per_s",
            ]
        ],
        section.view,
        key=f"collectives-{view.run}",
        labels=section.labels,
        select="single-row",
        on_select=clicked,
    )
    which = "longest call" if shown["skew_ns"].isna().all() else "call with the largest skew"
    notes = [f"The whole recording. Click a row to see its {which} in the timeline."]
    if len(frame) > MAX_ROWS:
        notes.append(f"The first {MAX_ROWS:,} of {len(frame):,} rows. The menu has all of them.")
    st.caption(" ".join(notes))


def _open(view: View, row: dict[str, Any]) -> None:
    """Open page Timeline at the call with the largest skew of a row."""
    known = {name: None if formatting.missing(value) else value for name, value in row.items()}
    for call in data.rows(reports.rank_views.latest_call(str(view.run), known)).itertuples():
        rank = int(call.rank)
        start_ns, dur_ns = int(call.start_ns), int(call.dur_ns)
        group = known["process_group_id"]
        shown = timeline_link.ALL_RANKS if group is None else str(int(group))
        here = {"run": str(view.run), "step": "all", timeline_link.RANKS: shown}
        timeline_link.open_on_click(here, rank, start_ns, dur_ns, start_ns)

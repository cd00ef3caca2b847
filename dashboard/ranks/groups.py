"""The process groups and the clocks of the ranks."""

from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.ranks import answer
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import reports, units

MAX_RANGES = 16
MAX_ROWS = 2_000
REASON = (
    "The offset of a clock to the reference rank's comes from the ends of collectives that are "
    "matched across ranks. Ranks with different references cannot be compared."
)


def show(view: View) -> None:
    """Draw both tables."""
    left, right = st.container(key="beside-groups").columns(2, gap="medium")
    with left:
        _groups(view)
    with right:
        _clocks(view)


def _groups(view: View) -> None:
    section = reports.rank_views.groups(str(view.run))
    menu.heading(section.title, {"groups": section.query}, "process-groups", files=view.run or "")
    frame = data.rows(section.query)
    if frame.empty:
        st.caption(section.absent)
        return
    texts = {name: frame[name].map(_members) for name in ("member_ranks", "missing_ranks")}
    tables.show(
        frame.assign(**texts).drop(columns="process_group_id").head(MAX_ROWS),
        section.view,
        key=f"groups-{view.run}",
        labels=section.labels,
    )


def _members(ranks: Any) -> str | None:
    if formatting.missing(ranks):
        return None
    return units.number_ranges(map(int, ranks), MAX_RANGES) or "none"


def _drift(ppm: float | None) -> str | None:
    return None if formatting.missing(ppm) else f"{ppm:.1f}"


def _clocks(view: View) -> None:
    section = reports.rank_views.clocks(str(view.run))
    menu.heading(
        section.title, {"clocks": section.query}, "rank-clocks", help=REASON, files=view.run or ""
    )
    frame = data.rows(section.query)
    if len(frame) < 2:
        st.caption("One rank has one clock.")
        return
    tables.show(
        frame.assign(drift_ppm=frame["drift_ppm"].map(_drift))
        .drop(columns=["uncertainty_ppm", "middle_ns", "is_reference"])
        .head(MAX_ROWS),
        section.view,
        key=f"clocks-{view.run}",
        labels=section.labels,
        numbers=["drift_ppm"],
    )
    unknown = int(frame["offset_ns"].isna().sum())
    notes = [answer.correction(frame)]
    if unknown:
        notes.append(f"The clocks of {formatting.counted(unknown, 'rank')} are unknown. {REASON}")
    if text := " ".join(note for note in notes if note):
        st.caption(text)

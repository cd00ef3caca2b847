"""The critical path of the median step across ranks."""

import streamlit as st

from dashboard import data
from dashboard.drawing import tables
from dashboard.ranks import answer
from dashboard.ranks.answer import Answer
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import reports

MAX_ROWS = 200
HELP = (
    "What the job waited for, backward from the last end of the median step. Where a rank waited "
    "for another one, the path goes on with the critical path of that rank. Only changes to this "
    "work can make the step shorter."
)


def show(view: View, found: Answer) -> None:
    """Say which share of the path is on which rank, and list its stretches in the order of time."""
    section = reports.rank_path.stretches(str(view.run))
    frame = data.rows(section.query)
    matching = answer.records(found.matching)
    sentence = reports.rank_path.sentence(answer.records(frame), matching)
    if not sentence:
        return
    menu.heading(section.title, {"path": section.query}, "rank-path", HELP, files=view.files)
    st.markdown(sentence)
    if len(frame) == 1:
        return
    tables.show(
        frame[["rank", "from_start_ns", "dur_ns", "percent", "waited_in"]].head(MAX_ROWS),
        section.view,
        key=f"rank-path-{view.run}",
        labels=section.labels,
    )
    if len(frame) > MAX_ROWS:
        st.caption(f"The first {MAX_ROWS:,} of {len(frame):,} stretches.")

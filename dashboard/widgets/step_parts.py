"""The parts of the wall time of some steps, as a table with bars."""

import streamlit as st

from dashboard import data
from dashboard.drawing import colours, formatting, tables
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import select

EXPLAINED = (
    "The parts add up to the wall time. Work that overlaps counts in each of its parts. The part "
    "`overlap` is negative and corrects for that."
)


def show(view: View) -> None:
    """Show a row for each part that takes time, longest first."""
    query = select(
        "part, ns AS part_ns, percent",
        "parts_of_steps",
        {**view.of_device(), "ns <>": 0},
        arguments=(view.run, *view.steps.bounds),
        order_by="ns DESC, ordinal",
    )
    menu.heading("Where the time goes", {"parts": query}, "parts", help=EXPLAINED, files=view.files)
    has_steps = not formatting.missing(view.measured.step)
    whole = "All steps, with the time between them" if has_steps else "The whole recording"
    st.caption(whole if view.steps.is_whole else view.steps.label.capitalize())
    frame = data.rows(query)
    tables.show(
        frame.assign(part=frame["part"].map(colours.label)),
        "parts_of_steps",
        key=f"parts-{view.key}",
        bars=["part_ns"],
        colours=[colours.of(part) for part in frame["part"]],
        labels={"part_ns": "time"},
    )

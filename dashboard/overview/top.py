"""The kernels and operators that take the most time, and the advice that saves the most."""

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import advice_kinds, menu, page_change
from dashboard.widgets.run_picker import Device
from dashboard.widgets.view import View
from ingest.server import Section, reports

MAX_ROWS = 5
MAX_ADVICE = 2


def of_device(view: View, level: str, title: str) -> None:
    """Show the first kernels, or the first operators by the device time that they launched."""
    section = reports.top.on_device(view.run, view.of_device(), level, view.steps.bounds)
    _table(view, title, section, "device_ns", level)


def host_operators(view: View) -> None:
    """Show the first operators by self time on the host."""
    rank = view.device.rank if view.device else None
    section = reports.top.on_host([str(view.run)], rank, view.steps.bounds)
    _table(view, "Operators", section, "self_ns", None)


def advice(view: View, device: Device) -> None:
    """Show the first pieces of advice, each with the time that it can save at most."""
    query = advice_kinds.pieces(view)
    menu.heading("Advice", {"advice": query}, "advice")
    frame = data.rows(query)
    kinds = advice_kinds.kinds()
    for piece in frame.head(MAX_ADVICE).itertuples():
        title = advice_kinds.title(kinds[str(piece.kind)], device.is_host)
        st.markdown(
            f"**{formatting.duration(piece.bound_ns)}** ({formatting.percent(piece.percent)}) at "
            f"most: {title}  \n:small[{formatting.literal(piece.finding)}]"
        )
    if frame.empty:
        st.caption("There is no advice for these steps.")
    st.page_link(
        st.session_state["pages"]["advice"],
        label="All checks",
        icon=":material/lightbulb:",
    )


def _table(view: View, title: str, section: Section, time: str, level: str | None) -> None:
    """Draw the first rows. A click on a row opens it on page Operators."""
    menu.heading(title, {title.lower(): section.query}, title.lower())
    frame = data.rows(section.query)
    frame = frame[frame["name"] != "bubble"].head(MAX_ROWS)[["name", time, "calls"]]

    def clicked(rows: list[int]) -> None:
        level_of = {"level": level} if level else {}
        for row in rows:
            name = str(frame["name"].iloc[row])
            page_change.request("operators", {**view.address(), **level_of, "name": name})

    tables.show(
        frame,
        section.view,
        key=f"top-{title}",
        bars=[time],
        select="single-row",
        on_select=clicked,
    )

"""The kernels and operators that take the most time, and the advice that saves the most."""

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import advice_kinds, menu, page_change
from dashboard.widgets.run_picker import Device
from dashboard.widgets.view import View
from ingest.server import Query, select

MAX_ROWS = 5
MAX_ADVICE = 2


def of_device(view: View, level: str, title: str) -> None:
    """Show the first kernels, or the first operators by the device time that they launched."""
    query = select(
        "name, device_ns, calls",
        "ranking_of_steps",
        {"level": level, "name <>": "bubble", **view.of_device()},
        arguments=(view.run, *view.steps.bounds),
        order_by="device_ns DESC, name",
        limit=MAX_ROWS,
    )
    _table(view, title, query, "ranking_of_steps", "device_ns", level)


def host_operators(view: View) -> None:
    """Show the first operators by self time on the host."""
    query = select(
        "name, self_ns, calls",
        "host_ranking_of_steps",
        {"rank": view.device.rank if view.device else None},
        arguments=(view.run, *view.steps.bounds),
        order_by="self_ns DESC, name",
        limit=MAX_ROWS,
    )
    _table(view, "Operators", query, "host_op_ranking", "self_ns", None)


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


def _table(view: View, title: str, query: Query, of: str, time: str, level: str | None) -> None:
    """Draw a table. A click on a row opens it on page Operators."""
    menu.heading(title, {title.lower(): query}, title.lower())
    frame = data.rows(query)

    def clicked(rows: list[int]) -> None:
        level_of = {"level": level} if level else {}
        for row in rows:
            name = str(frame["name"].iloc[row])
            page_change.request("operators", {**view.address(), **level_of, "name": name})

    tables.show(frame, of, key=f"top-{title}", bars=[time], select="single-row", on_select=clicked)

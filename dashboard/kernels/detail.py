"""The details of the ticked kernel: launch shape, efficiency, durations, and what launches it."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.kernels import facts, histogram
from dashboard.kernels.shape import conditions
from dashboard.widgets import menu, timeline_link
from dashboard.widgets.view import View
from ingest.server import Query, Value, reports

MAX_CALLS = 500
SHOWN_NAME = 4_000


def show(view: View, row: pd.Series) -> None:
    """Show the details of a row of `kernel_shapes_of_steps`."""
    _heading(str(row["kernel"]))
    where = conditions(view, row)
    facts.show(view, row, where)
    if row["min_ns"] < row["max_ns"]:
        histogram.show(view, where, float(row["min_ns"]), float(row["max_ns"]), "shape")
    else:
        times = "It ran once" if row["calls"] == 1 else "Each call took the same time"
        st.caption(f"{times}: {formatting.duration(row['max_ns'])}.")
    operators, modules, lines, calls = st.tabs(["Operators", "Modules", "Lines", "Calls"])
    with operators:
        _table(
            view,
            reports.kernels.operators(where),
            "operators",
            "No operator is known: the launch was not recorded.",
        )
    with modules:
        _table(
            view,
            reports.kernels.modules(where),
            "modules",
            "The trace does not say which nn.Module launched it. Record it with `with_stack=True` "
            "and `with_modules=True`, as `capture` does. Backward passes have no modules.",
        )
    with lines:
        _lines(view, str(row["kernel"]))
    with calls:
        _calls(view, where)


def _heading(name: str) -> None:
    st.subheader(formatting.literal(formatting.short_name(name)), anchor=False)
    if formatting.short_name(name) != name:
        st.code(name[:SHOWN_NAME], language=None, wrap_lines=True, height=100)
        if len(name) > SHOWN_NAME:
            st.caption(f"The first {SHOWN_NAME:,} of the name's {len(name):,} characters.")


def _table(view: View, query: Query, name: str, nothing: str) -> bool:
    """Show rows by device time, or why there are none. Return whether there are any."""
    frame = data.rows(query)
    if frame.empty:
        st.caption(nothing)
        return False
    tables.show(
        frame,
        "kernel_shapes_of_steps",
        key=f"launched-by-{name}",
        labels={"name": "line"},
        bars=["percent"],
    )
    menu.show({name: query}, f"kernel-{name}", view.files)
    return True


def _lines(view: View, kernel: str) -> None:
    rank = view.device.rank if view.device else 0
    query = reports.kernels.lines(view.run, rank, kernel, view.steps.bounds)
    nothing = (
        "The trace does not say which line of Python launched it. Record it with `with_stack=True`."
    )
    if _table(view, query, "lines", nothing):
        st.caption("The innermost lines outside of torch, for all launch shapes of this kernel.")


def _calls(view: View, where: dict[str, Value]) -> None:
    """Show the longest calls. A click opens one in the timeline."""
    query = reports.kernels.calls(where, MAX_CALLS)
    frame = data.rows(query)
    rank = view.device.rank if view.device else 0

    def clicked(rows: list[int]) -> None:
        for call in frame.iloc[rows].itertuples():
            since_ns: Any = call.start_ns if formatting.missing(call.launch_ns) else call.launch_ns
            times = (int(call.start_ns), int(call.dur_ns), int(since_ns))
            timeline_link.open_on_click(view.address(), rank, *times)

    tables.show(
        frame,
        "kernels",
        key="kernel-shape-calls",
        hidden=["start_ns", "launch_ns", "event_id"],
        select="single-row",
        on_select=clicked,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        menu.show({"calls": query}, "kernel-calls", view.files)
        most = f"The {MAX_CALLS} longest calls. " if len(frame) == MAX_CALLS else ""
        st.caption(f"{most}Click a call to see it in the timeline.")

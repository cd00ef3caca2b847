"""Page Kernels: which kernels take the time, and how well they fill the device."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.kernels import detail, notes, side_by_side, summary
from dashboard.kernels.shape import in_steps, of_device, shape_of
from dashboard.widgets import efficiency, incomplete_runs, menu, url
from dashboard.widgets.view import View
from ingest.server import Section, reports

NAME, SHAPE = "name", "shape"  # URL parameters: the ticked kernel and its launch shape
LONG = "kernels-ticked"  # session state: a ticked name that is too long for the address
MAX_ROWS = 2_000
COLUMNS = (
    *("kernel", "calls", "device_ns", "percent", "mean_ns", "waves", "peak_percent"),
    *("bandwidth_percent", "bound", "saved_ns", "occupancy_percent", "std_ns", SHAPE),
)


def page(view: View) -> None:
    """Draw the page."""
    if view.run is None:
        side_by_side.page(view.runs)
        return
    if view.device is None:
        incomplete_runs.no_activity(view.run)
        return
    if view.is_host:
        incomplete_runs.stop_without_trace([view.run])
        _without_device(view)
        return
    totals = data.rows(reports.kernels.totals(view.run, of_device(view), view.steps.bounds)).iloc[0]
    if formatting.missing(totals["kernels"]):
        st.info(
            f"No kernel ran on this device in {notes.of_steps(view)}: it only copied or set "
            "memory, or did nothing. Pick other steps or another device.",
            icon=":material/search_off:",
        )
        return
    summary.metrics(view, totals)
    for limits in data.rows(reports.efficiency.limits(view.where())).itertuples():
        efficiency.note_unknown_peaks(limits)
    search = url.search("filter by name")
    section = ranking(view, search)
    frame = data.rows(section.query)
    keys = [_key(row) for row in frame.head(MAX_ROWS).to_dict("records")]
    chosen = _chosen(keys)
    if chosen is None:
        _note_missing(view, search, frame.empty)
        if not frame.empty:
            _table(view, section, frame, keys, chosen, search)
        summary.show(view, totals)
        return
    left, right = st.container(key="beside-kernels").columns([3, 2], gap="medium")
    with left:
        _table(view, section, frame, keys, chosen, search)
    with right:
        detail.show(view, frame.iloc[chosen])


def _without_device(view: View) -> None:
    """Say why a run without a device has no kernels, and where its time is."""
    if not _counters(view):
        st.info(
            f"{incomplete_runs.no_device([str(view.run)])} Kernels run on devices only.",
            icon=":material/memory:",
        )
    st.page_link(
        st.session_state["pages"]["operators"],
        label="Show the operators on the host",
        icon=":material/bar_chart:",
        query_params=view.address(),
    )


def _counters(view: View) -> bool:
    """Show what hardware counters measured for kernels. Return whether the trace has any."""
    section = reports.kernels.counted(in_steps(view))
    frame = data.rows(section.query)
    if frame.empty:
        return False
    st.info(
        "The profiler recorded hardware counters of kernels instead of their times.",
        icon=":material/memory:",
    )
    menu.heading(section.title, {"counters": section.query}, "counters", files=view.files)
    tables.show(frame, section.view, key=f"counters-{view.key}", labels=section.labels)
    st.caption(section.note)
    return True


def ranking(view: View, search: str) -> Section:
    """Return the kernels of the view's steps by launch shape."""
    return reports.kernels.shapes(view.run, of_device(view), view.steps.bounds, search=search)


def _table(
    view: View,
    section: Section,
    frame: pd.DataFrame,
    keys: list[tuple[str, str]],
    chosen: int | None,
    search: str,
) -> None:
    """Draw the table of kernels. A tick changes the address, and so the page."""
    menu.heading(section.title, {"kernels": section.query}, "kernels", files=view.files)
    shown = frame.head(MAX_ROWS)
    shapes = [shape_of(row) for row in shown.to_dict("records")]
    tables.show(
        shown.assign(**{SHAPE: shapes})[list(COLUMNS)],
        section.view,
        key=f"kernels-{view.key}-{search}",
        labels={**section.labels, SHAPE: "grid / block"},
        bars=["percent"],
        select="single-row",
        selected=[] if chosen is None else [chosen],
        on_select=lambda rows: _tick(keys[rows[0]] if rows else None),
        ids=[f"{text} {name}" for name, text in keys],
        rest_px=None if chosen is None else 480,
    )
    st.caption("Tick a row to see its launch shape, its durations, and what launches it.")
    notes.of_table(view, frame, MAX_ROWS)


def _key(row: Mapping[Hashable, Any]) -> tuple[str, str]:
    """Return the name of a row's kernel, and a text for its launch shape."""
    values = reports.kernels.of_shape({str(name): value for name, value in row.items()})
    return str(row["kernel"]), " ".join(
        str(value) for name, value in values.items() if name != "kernel"
    )


def _tick(key: tuple[str, str] | None) -> None:
    """Put the ticked row into the address. A long name does not fit there."""
    url.remember(NAME, key and key[0])
    url.remember(SHAPE, key and key[1])
    st.session_state[LONG] = key[0] if key and NAME not in st.query_params else None


def _asked() -> str | None:
    """Return the name of the ticked kernel."""
    return st.query_params.get(NAME) or st.session_state.get(LONG)


def _chosen(keys: list[tuple[str, str]]) -> int | None:
    """Return the row of the ticked kernel: of its shape, or else its first."""
    name, shape = _asked(), st.query_params.get(SHAPE)
    found = [index for index, key in enumerate(keys) if key[0] == name]
    exact = [index for index in found if keys[index][1] == shape]
    return next(iter(exact or found), None)


def _note_missing(view: View, search: str, is_empty: bool) -> None:
    """Say why no kernel is in the table, or why the one in the address is not."""
    if is_empty:
        text = "No name of a kernel contains this text. Clear the search."
    elif (name := _asked()) is None:
        return
    else:
        short = formatting.literal(formatting.short_name(name))
        is_hidden = bool(search) and search.lower() not in name.lower()
        text = (
            f"The filter hides **{short}**. Clear it to see the row."
            if is_hidden
            else f"**{short}** is not in the table of {notes.of_steps(view)}."
        )
    st.info(text, icon=":material/search_off:")

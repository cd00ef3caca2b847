"""The answer for all kernels: metrics, what bounds them, how far they fill the device."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.kernels import histogram
from dashboard.kernels.shape import in_steps, of_device
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import Section, reports

HELP = {
    "kernels": "Kernels without copies and memsets.",
    "time": "Sum of the durations of all kernels. Kernels that overlap count each.",
    "mean": "Mean duration of a kernel.",
    "short": "Kernels outside of graphs that took less time than their launch call. If most do, "
    "the host cannot launch fast enough.",
    "matrix": "Time of kernels whose names show that they use tensor cores, or matrix cores of "
    "AMD. Other kernels may use them, too.",
    "part": "Time of kernels with fewer blocks than fit on the device: a part of it is empty.",
    "known": "Time of kernels whose operator's work is known from the shapes of its inputs.",
}

UNKNOWN = "Unknown: the operations or bytes of the operator are unknown, or their peak."
WAVES = "One wave of blocks fills the device once. With less, a part of it is empty."


def metrics(view: View, totals: pd.Series) -> None:
    """Show the metrics of all kernels. `totals` is the row of `reports.kernels.totals`."""
    (short,) = data.rows(reports.kernels.short(view.of_steps()))["percent"]
    with st.container(horizontal=True):
        st.metric("Kernels", formatting.count(totals["kernels"]), help=HELP["kernels"])
        st.metric("Kernel time", formatting.duration(totals["device_ns"]), help=HELP["time"])
        st.metric("Mean duration", formatting.duration(totals["mean_ns"]), help=HELP["mean"])
        st.metric("Shorter than their launch", formatting.percent(short), help=HELP["short"])
        st.metric(
            "On matrix cores, by name",
            formatting.percent(totals["matrix_percent"]),
            help=HELP["matrix"],
        )
        if totals["has_waves"]:
            part = 0 if formatting.missing(totals["part_percent"]) else totals["part_percent"]
            st.metric("Less than one wave", formatting.percent(part), help=HELP["part"])
        st.metric("Known work", formatting.percent(totals["known_percent"]), help=HELP["known"])


def show(view: View, totals: pd.Series) -> None:
    """Show what bounds the kernels, how far they fill the device, and their durations."""
    given = (view.run, of_device(view), view.steps.bounds)
    ends = (float(totals["min_ns"]), float(totals["max_ns"]))
    columns = st.container(key="beside-all-kernels").columns(
        3 if totals["has_waves"] else 2, gap="medium"
    )
    with columns[0]:
        histogram.show(view, in_steps(view), *ends, "all")
    with columns[1]:
        frame = _table(view, reports.kernels.by_bound(*given), "bounds")
        if (frame["bound"] == reports.kernels.UNKNOWN).any():
            st.caption(UNKNOWN)
    if totals["has_waves"]:
        with columns[2]:
            _table(view, reports.kernels.by_fill(*given), "fill")
            st.caption(WAVES)


def _table(view: View, section: Section, name: str) -> pd.DataFrame:
    menu.heading(section.title, {name: section.query}, name, files=view.files)
    frame = data.rows(section.query)
    tables.show(
        frame,
        section.view,
        key=f"{name}-{view.key}",
        labels=section.labels,
        bars=["percent"],
    )
    return frame

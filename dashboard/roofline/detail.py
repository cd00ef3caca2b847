"""The details of a ticked row of page Roofline: its figures, its calls, and their links."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu, timeline_link
from dashboard.widgets.stages import Stage
from dashboard.widgets.view import View
from ingest.server import Value, reports, select

MAX_CALLS = 500


def show(view: View, level: str, row: pd.Series, stage: Stage | None) -> None:
    """Show the figures of a row, and its calls."""
    name = "outside of modules" if formatting.missing(row["name"]) else str(row["name"])
    st.subheader(formatting.literal(formatting.short_name(name)), anchor=False)
    with st.container(horizontal=True):
        st.metric("Time", formatting.duration(row["work_ns"]))
        st.metric("Calls", formatting.count(row["calls"]))
        st.metric("Of the peak", formatting.percent(row["peak_percent"]))
        st.metric("Of the bandwidth", formatting.percent(row["bandwidth_percent"]))
        st.metric(
            "Could save",
            formatting.duration(row["saved_ns"]),
            help="The time that reaching the roofline would save in these steps.",
        )
        st.metric(
            "At 80%",
            formatting.duration(row["saved_80_ns"]),
            help="The time that reaching 80% of the roofline would save in these steps.",
        )
    st.markdown(_sentence(row))
    _calls(view, level, row, stage)


def _sentence(row: pd.Series) -> str:
    parts = []
    if not formatting.missing(row["bound"]):
        parts.append(f"Bound by {reports.efficiency.BOUNDS[row['bound']]}.")
    if not formatting.missing(row["warning"]):
        parts.append(f"It is faster than the peak allows: {reports.efficiency.ABOVE_PEAK}.")
    if formatting.missing(row["bound"]):
        parts.append("What bounds it is unknown: its bytes, or the limits of the device, are.")
    return " ".join(parts)


def _calls(view: View, level: str, row: pd.Series, stage: Stage | None) -> None:
    """Show the calls, the longest first. A click opens one in the timeline."""
    counted: dict[str, Value] = (
        {**view.where(), **stage.where(view)} if stage else {**view.of_steps(), "is_measured": True}
    )
    where = {f"work.{column}": value for column, value in counted.items()}
    where[f"work.{level}"] = None if formatting.missing(row["name"]) else row["name"]
    if level == "op":
        for column in ("input_dims", "dtype"):
            where[f"work.{column}"] = None if formatting.missing(row[column]) else row[column]
    query = select(
        "work.step, work.work_ns, work.launch_call_ns, work.tflop_per_s, work.tb_per_s, "
        "work.peak_percent, work.bandwidth_percent, work.bound, work.saved_ns, work.kernels, "
        "work.flops, work.measured_flops, work.bytes, work.measured_bytes, "
        "work.op, work.kernel, work.module, work.op_id, op.start_ns, op.dur_ns",
        "op_efficiency AS work INNER JOIN ops AS op "
        "ON work.run_id = op.run_id AND work.op_id = op.event_id",
        where,
        order_by="work.work_ns DESC, op.start_ns",
        limit=MAX_CALLS,
    )
    frame = data.rows(query)

    def clicked(rows: list[int]) -> None:
        for call in frame.iloc[rows].itertuples():
            times: Any = (int(call.start_ns), int(call.dur_ns), int(call.start_ns))
            rank = view.device.rank if view.device else 0
            timeline_link.open_on_click(view.address(), rank, *times)

    menu.heading("Calls", {"calls": query}, "roofline-calls", files=view.files)
    if frame["measured_flops"].isna().all() and frame["measured_bytes"].isna().all():
        frame = frame.drop(columns=["flops", "measured_flops", "bytes", "measured_bytes"])
    same = [name for name in ("op", "kernel", "module") if frame[name].nunique(dropna=False) < 2]
    tables.show(
        frame,
        "op_efficiency",
        key="roofline-calls",
        hidden=["start_ns", "dur_ns", "op_id", *same],
        labels={
            "work_ns": "time",
            "launch_call_ns": "launches",
        },
        select="single-row",
        on_select=clicked,
    )
    most = f"The {MAX_CALLS} longest calls. " if len(frame) == MAX_CALLS else ""
    st.caption(f"{most}Click a call to see it in the timeline.")

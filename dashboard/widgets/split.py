"""How a device's time divides, and its idle time by cause, as bars."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.query import Query, select
from dashboard.widgets import charts, colours, formatting, menu
from dashboard.widgets.view import View

MOST_BARS = 24
MOST_ROWS = 1_000
LABEL_PIXELS = 340
# Bars are told apart by whole ids; of a long one the label leaves out the middle, as ids that begin
# alike differ at the end.
LABEL = (
    "length(datum.label) > 56 ? slice(datum.label, 0, 20) + '…' + slice(datum.label, -35)"
    " : datum.label"
)


def show(view: View) -> None:
    """A bar for each device: of the run's in the steps, or of all runs' in the whole recording."""
    is_whole = view.steps.is_whole
    options: dict[str, Any] = {"order_by": "run_id, rank, device, part", "limit": MOST_ROWS}
    if is_whole:
        query = select(
            "run_id, rank, device, part, part_ns, percent",
            "device_split",
            {"run_id": view.runs},
            **options,
        )
    else:
        query = select(
            f"{ingest.literal(view.run)} AS run_id, rank, device, part, part_ns, percent",
            "device_split_of_steps",
            arguments=(view.run, *view.steps.bounds),
            **options,
        )
    menu.heading("Devices", {"split": query}, "split", files=view.files)
    frame = data.rows(query)
    several = is_whole and len(view.runs) > 1
    names = [
        (f"{row.run_id}, " if several else "")
        + f"rank {row.rank} device {'?' if formatting.missing(row.device) else row.device}"
        for row in frame.itertuples()
    ]
    shown = list(dict.fromkeys(names))[:MOST_BARS]
    parts = set(frame["part"])
    chart_rows = pd.DataFrame(
        {
            "bar": names,
            "label": frame["part"].map(colours.label),
            "place": frame["part"].map(colours.place),
            "percent": frame["percent"],
            "share": frame["percent"].map(formatting.percent),
            "time": frame["part_ns"].map(formatting.duration),
        }
    )
    of = "the device's span" if is_whole else f"the wall time of {view.steps.label}"
    base = alt.Chart(chart_rows[chart_rows["bar"].isin(shown)]).encode(
        x=alt.X("percent:Q", title=f"of {of} (%)", scale=alt.Scale(domain=[0, 100])),
        y=alt.Y("bar:N", title=None, axis=alt.Axis(labelLimit=LABEL_PIXELS, labelExpr=LABEL)),
        order=alt.Order("place:Q"),
        tooltip=charts.tooltips("bar:N", "label:N", "time:N", "share:N"),
    )
    chart = base.mark_bar(height={"band": 0.7}).encode(color=charts.coloured(parts))
    charts.legend_of(parts)
    chart = chart.properties(height=36 * len(shown) + charts.AXIS_HEIGHT)
    st.altair_chart(chart, alt="Device time by part")
    if len(set(names)) > MOST_BARS:
        st.caption(f"The first {MOST_BARS} devices.")


def causes(view: View) -> Query:
    """Idle time of the steps by cause, the longest first. Columns as in `bubble_causes`.

    In a step, they add up to its idle time. Of a whole recording with a device, whole gaps count.
    """
    columns = "cause, percent, bubble_ns, bubbles"
    order = "bubble_ns DESC, cause"
    if view.steps.is_whole and not view.is_host:
        return select(columns, "bubble_causes", view.where(), order_by=order)
    return select(
        columns,
        "bubble_causes_of_steps",
        view.of_device(),
        arguments=(view.run, *view.steps.bounds),
        order_by=order,
    )

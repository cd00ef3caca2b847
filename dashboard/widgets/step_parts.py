"""What the time of some steps consists of, as bars."""

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import select
from dashboard.widgets import charts, colours, formatting, menu
from dashboard.widgets.view import View

BAR_HEIGHT = 22
EXPLAINED = (
    "The parts add up to the wall time. Work that overlaps counts in each of its parts, and is "
    "taken off once as `overlap`."
)


def show(view: View) -> None:
    """A bar for each part that takes time, the longest first."""
    query = select(
        "part, ns, percent",
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
    factor, unit = charts.duration_axis(frame["ns"].max() if len(frame) else 0)
    rows = pd.DataFrame(
        {
            "label": frame["part"].map(colours.label),
            "value": frame["ns"] / factor,
            "end": frame["ns"].clip(lower=0) / factor,
            "said": [
                f"{formatting.duration(ns)} · {formatting.percent(percent)}"
                for ns, percent in zip(frame["ns"], frame["percent"], strict=True)
            ],
        }
    )
    base = alt.Chart(rows).encode(
        y=alt.Y("label:N", sort=list(rows["label"]), title=None, axis=alt.Axis(labelLimit=200)),
        x=alt.X("value:Q", title=unit, axis=alt.Axis(tickCount=4)),
    )
    bars = base.mark_bar(height={"band": 0.75}).encode(
        color=charts.coloured(set(frame["part"])),
        tooltip=charts.tooltips(("label:N", "part"), ("said:N", "time")),
    )
    words = base.mark_text(align="left", dx=4, color=colours.ink()).encode(
        x=alt.X("end:Q"), text=alt.Text("said:N")
    )
    st.altair_chart(
        (bars + words).properties(height=BAR_HEIGHT * len(rows) + charts.AXIS_HEIGHT),
        alt="What the time of the steps consists of",
    )

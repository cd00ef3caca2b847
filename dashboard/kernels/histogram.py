"""The histogram of kernels' durations."""

import math
from collections.abc import Mapping

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import Value, reports

HEIGHT = 200


def show(
    view: View, where: Mapping[str, Value], least_ns: float, most_ns: float, name: str
) -> None:
    """Draw the durations of the kernels that fit the conditions.

    `least_ns` and `most_ns` are the shortest and the longest, and `name` is for files.
    """
    query = reports.kernels.durations(where, least_ns, most_ns)
    menu.heading("Durations", {"durations": query}, f"durations-{name}", files=view.files)
    frame = data.rows(query)
    is_log = reports.kernels.is_logarithmic(least_ns, most_ns)
    first = reports.kernels.FIRST_BAR_NS if is_log else 0
    middle_ns = math.sqrt(max(least_ns, first) * most_ns)
    factor, unit = charts.duration_axis(middle_ns if is_log else most_ns)
    shown = pd.DataFrame(
        {
            "since": frame["since_ns"] / factor,
            "until": frame["until_ns"] / factor,
            "calls": frame["calls"],
            "duration": [
                f"{formatting.duration(since)} to {formatting.duration(until)}"
                if since > first
                else f"up to {formatting.duration(until)}"
                for since, until in zip(frame["since_ns"], frame["until_ns"], strict=True)
            ],
        }
    )
    scale = alt.Scale(type="log" if is_log else "linear", nice=False, zero=False)
    chart = (
        alt.Chart(shown)
        .mark_rect(color=colours.of("compute"))
        .encode(
            x=alt.X("since:Q", scale=scale, title=f"duration ({unit})"),
            x2=alt.X2("until:Q"),
            y=alt.Y("calls:Q", title="calls", axis=alt.Axis(tickMinStep=1, format=",d")),
            y2=alt.datum(0),
            tooltip=charts.tooltips("duration:N", "calls:Q"),
        )
        .properties(height=HEIGHT)
    )
    st.altair_chart(chart, alt="Calls of kernels by their duration")

"""How a device's time divides, and its idle time by cause, as bars."""

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import select
from dashboard.widgets import charts, colours, formatting, menu

MOST_BARS = 24
LABEL_PIXELS = 340
# Bars are told apart by whole ids; of a long one the label leaves out the middle, as ids that begin
# alike differ at the end.
LABEL = (
    "length(datum.label) > 56 ? slice(datum.label, 0, 20) + '…' + slice(datum.label, -35)"
    " : datum.label"
)


def show(runs: Sequence[str]) -> None:
    """A bar for each device of the runs: compute, exposed communication and copies, bubble."""
    query = select(
        "run_id, rank, device, part, part_ns, percent",
        "device_split",
        {"run_id": runs},
        order_by="run_id, rank, device, part",
        limit=4 * MOST_BARS,
    )
    menu.heading("Devices", {"split": query}, "split")
    frame = data.rows(query)
    several = len(runs) > 1
    chart_rows = pd.DataFrame(
        {
            "bar": [
                (f"{row.run_id}, " if several else "")
                + f"rank {row.rank} device {'?' if formatting.missing(row.device) else row.device}"
                for row in frame.itertuples()
            ],
            "label": frame["part"].map(colours.label),
            "place": frame["part"].map(colours.place),
            "percent": frame["percent"],
            "share": frame["percent"].map(formatting.percent),
            "time": frame["part_ns"].map(formatting.duration),
        }
    )
    bars = chart_rows["bar"].nunique()
    base = alt.Chart(chart_rows).encode(
        x=alt.X("percent:Q", title="of the device's span (%)", scale=alt.Scale(domain=[0, 100])),
        y=alt.Y("bar:N", title=None, axis=alt.Axis(labelLimit=LABEL_PIXELS, labelExpr=LABEL)),
        order=alt.Order("place:Q"),
        tooltip=charts.tooltips("bar:N", "label:N", "time:N", "share:N"),
    )
    chart = base.mark_bar(height={"band": 0.7}).encode(color=charts.coloured(set(frame["part"])))
    charts.legend_of(set(frame["part"]))
    chart = chart.properties(height=36 * bars + charts.AXIS_HEIGHT)
    st.altair_chart(chart, alt="Device time by part")
    if len(frame) == 4 * MOST_BARS:
        st.caption(f"The first {MOST_BARS} devices.")


def cause_bars(frame: pd.DataFrame) -> None:
    """Lost time by cause. Columns: cause, bubble_ns, percent."""
    factor, unit = charts.duration_axis(frame["bubble_ns"].max())
    chart_rows = pd.DataFrame(
        {
            "cause": frame["cause"],
            "label": frame["cause"].map(colours.label),
            "value": frame["bubble_ns"] / factor,
            "time": frame["bubble_ns"].map(formatting.duration),
            "share": frame["percent"].map(formatting.percent),
        }
    )
    chart = (
        alt.Chart(chart_rows)
        .mark_bar(height={"band": 0.75})
        .encode(
            x=alt.X("value:Q", title=f"time lost ({unit})"),
            y=alt.Y("cause:N", sort=list(frame["cause"]), title=None),
            color=alt.Color(
                "label:N",
                legend=None,
                scale=charts.colour_scale(colours.order(set(frame["cause"]))),
            ),
            tooltip=charts.tooltips("cause:N", "time:N", ("share:N", "of the idle time")),
        )
        .properties(height=28 * len(frame) + charts.AXIS_HEIGHT)
    )
    st.altair_chart(chart, alt="Idle time by cause")

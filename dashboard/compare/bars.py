"""The largest changes of operators as bars: to the left what takes less time, to the right more."""

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.compare import op_rows
from dashboard.widgets import charts, colours, formatting

BARS = 20
LABEL_WIDTH = 44
LABEL_PIXELS = 270


def draw(frame: pd.DataFrame) -> None:
    """The first rows, largest changes first."""
    frame = frame.head(BARS)
    factor, unit = charts.duration_axis(frame["change_ns"].abs().max())
    # Rows of the same name differ in their modules: each has a bar of its own.
    ids = list(frame["row_id"])
    data = pd.DataFrame(
        {
            "id": frame["row_id"],
            "name": frame["name"].map(formatting.short_name),
            "status": frame["status"].map(op_rows.STATUSES),
            "value": frame["change_ns"] / factor,
            "change": frame["change_ns"].map(formatting.change),
            "from": frame["base_ns"].map(formatting.duration),
            "to": frame["other_ns"].map(formatting.duration),
            "calls": [
                f"{formatting.per_step(row.base_calls)} → {formatting.per_step(row.other_calls)}"
                for row in frame.itertuples(index=False)
            ],
            "by calls": frame["of_calls_ns"].map(formatting.change),
            "by time per call": frame["of_time_ns"].map(formatting.change),
            "module": frame["module"].fillna(""),
            "function": frame["host_frame"].fillna(""),
        }
    )
    found = [status for status in colours.CHANGES if status in set(frame["status"])]
    charts.legend({op_rows.STATUSES[status]: colours.CHANGES[status] for status in found})
    shorts = _labels(frame)
    axis = alt.Axis(
        labelLimit=LABEL_PIXELS,
        labelExpr=f"{shorts!r}[indexof({ids!r}, datum.value)]",
    )
    chart = (
        alt.Chart(data)
        .mark_bar(height={"band": 0.78})
        .encode(
            x=alt.X("value:Q", title=f"change ({unit}): less time left, more right"),
            y=alt.Y("id:N", sort=ids, title=None, axis=axis),
            color=alt.Color(
                "status:N",
                legend=None,
                scale=alt.Scale(
                    domain=[op_rows.STATUSES[status] for status in found],
                    range=[colours.CHANGES[status] for status in found],
                ),
            ),
            tooltip=charts.tooltips(
                "name:N",
                "status:N",
                "from:N",
                "to:N",
                "change:N",
                "calls:N",
                "by calls:N",
                "by time per call:N",
                "module:N",
                "function:N",
            ),
        )
        .properties(height=charts.BAR_HEIGHT * len(ids) + charts.AXIS_HEIGHT)
    )
    st.altair_chart(chart, alt="The largest changes of operators")


def _labels(frame: pd.DataFrame) -> list[str]:
    """Names, with the innermost module where several rows have the same."""
    several = frame["name"].duplicated(keep=False)
    labels = []
    for (name, module), twice in zip(
        frame[["name", "module"]].itertuples(index=False), several, strict=True
    ):
        inner = "" if formatting.missing(module) else str(module).rpartition("/")[2]
        end = f" · {formatting.clipped(inner, 18)}" if twice and inner else ""
        short = formatting.short_name(name, len(name) + 1)
        labels.append(formatting.middle_out(short, LABEL_WIDTH - len(end)) + end)
    return labels

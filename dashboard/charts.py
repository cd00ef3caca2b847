"""Bar charts, each from a view's rows."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import colours, formatting

BAR_HEIGHT = 24
TOOLTIP_WIDTH = 300


def colour_scale(parts: list[str]) -> alt.Scale:
    """The scale for the parts' labels."""
    return alt.Scale(
        domain=[colours.label(part) for part in parts],
        range=[colours.PARTS[part] for part in parts],
    )


def coloured(parts: set[str], title: str | None = None) -> Any:
    """The colour channel for a field `label`, with the parts in their order."""
    ordered = colours.order(parts)
    legend = alt.Legend(title=title, orient="top", columns=4, symbolType="square", labelLimit=220)
    return alt.Color("label:N", scale=colour_scale(ordered), legend=legend)


def duration_axis(longest_ns: float) -> tuple[float, str]:
    """The divisor and unit that suit durations up to the longest."""
    for factor, unit in reversed(formatting.DURATIONS):
        if longest_ns >= 2 * factor:
            return factor, unit
    return formatting.DURATIONS[0]


def ranking_bars(frame: pd.DataFrame, most: int) -> None:
    """Device time of the first names, each bar divided by class. Rows come in ranking order."""
    names = list(dict.fromkeys(frame["name"]))[:most]
    frame = frame[frame["name"].isin(names)]
    short = formatting.short_names(names, 42)
    factor, unit = duration_axis(frame.groupby("name")["device_ns"].sum().max())
    data = pd.DataFrame(
        {
            "short": frame["name"].map(short),
            "name": [formatting.clipped(name, TOOLTIP_WIDTH) for name in frame["name"]],
            "label": frame["class"].map(colours.label),
            "place": frame["class"].map(list(colours.PARTS).index),
            "value": frame["device_ns"] / factor,
            "time": frame["device_ns"].map(formatting.duration),
            "calls": frame["calls"].map(formatting.count),
        }
    )
    chart = (
        alt.Chart(data)
        .mark_bar(height={"band": 0.78})
        .encode(
            x=alt.X("value:Q", title=f"device time ({unit})"),
            y=alt.Y(
                "short:N",
                sort=[short[name] for name in names],
                title=None,
                axis=alt.Axis(labelLimit=260),
            ),
            color=coloured(set(frame["class"])),
            order="place:Q",
            tooltip=["name:N", alt.Tooltip("label:N", title="class"), "time:N", "calls:N"],
        )
        .properties(height=BAR_HEIGHT * len(names) + 70)
    )
    st.altair_chart(chart, alt="Device time of the first operators, by class")


def host_bars(frame: pd.DataFrame) -> None:
    """Host self time of the first operators."""
    factor, unit = duration_axis(frame["self_ns"].max())
    short = formatting.short_names(frame["op"], 42)
    data = pd.DataFrame(
        {
            "short": frame["op"].map(short),
            "name": [formatting.clipped(name, TOOLTIP_WIDTH) for name in frame["op"]],
            "value": frame["self_ns"] / factor,
            "time": frame["self_ns"].map(formatting.duration),
            "calls": frame["calls"].map(formatting.count),
        }
    )
    chart = (
        alt.Chart(data)
        .mark_bar(height={"band": 0.78}, color=colours.HOST)
        .encode(
            x=alt.X("value:Q", title=f"host self time ({unit})"),
            y=alt.Y(
                "short:N", sort=list(short.values()), title=None, axis=alt.Axis(labelLimit=260)
            ),
            tooltip=["name:N", "time:N", "calls:N"],
        )
        .properties(height=BAR_HEIGHT * len(short) + 40)
    )
    st.altair_chart(chart, alt="Host self time of the first operators")


def grouped_bars(frame: pd.DataFrame, runs: list[str]) -> None:
    """Device time of the same names in several runs, side by side. Columns: name, run_id, …"""
    names = list(dict.fromkeys(frame["name"]))
    short = formatting.short_names(names, 42)
    factor, unit = duration_axis(frame["device_ns"].max())
    data = pd.DataFrame(
        {
            "short": frame["name"].map(short),
            "name": [formatting.clipped(name, TOOLTIP_WIDTH) for name in frame["name"]],
            "run": frame["run_id"],
            "value": frame["device_ns"] / factor,
            "time": frame["device_ns"].map(formatting.duration),
            "calls": frame["calls"].map(formatting.count),
        }
    )
    chart = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=f"device time ({unit})"),
            y=alt.Y(
                "short:N",
                sort=[short[name] for name in names],
                title=None,
                axis=alt.Axis(labelLimit=260),
            ),
            yOffset=alt.YOffset("run:N", sort=runs),
            color=alt.Color(
                "run:N",
                sort=runs,
                scale=alt.Scale(domain=runs, range=list(colours.RUNS[: len(runs)])),
                legend=alt.Legend(title=None, orient="top", columns=2, labelLimit=320),
            ),
            tooltip=["name:N", "run:N", "time:N", "calls:N"],
        )
        .properties(height=(10 * len(runs) + 10) * len(names) + 90)
    )
    st.altair_chart(chart, alt="Device time of the first operators in each run")

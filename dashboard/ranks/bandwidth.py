"""The bandwidth of collectives against their size."""

import math
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import reports, units

HEIGHT = 300
MAX_POINTS = 1_000
MAX_SHAPES = 6  # groups with a shape each


def show(view: View) -> None:
    """Draw a point for each kind of collective in a process group with the same size."""
    query = reports.rank_views.collectives(str(view.run)).query
    menu.heading(
        "Bandwidth by size", {"collectives": query}, "collective-bandwidth", files=str(view.run)
    )
    frame = data.rows(query)
    known = frame[frame["bus_gb_per_s"].notna() & (frame["bytes"] > 0)]
    if known.empty:
        st.caption(
            "Bandwidths are unknown: no collective with a recorded size is matched across ranks."
        )
        return
    known = known.nlargest(MAX_POINTS, "calls")
    kinds = sorted(set(known["kind"]))
    colour_of = dict(zip(kinds, colours.RUNS * 2, strict=False))
    charts.legend(colour_of)
    st.altair_chart(
        _chart(known, colour_of), alt="The bus bandwidth of collectives against their size"
    )
    notes = ["Medians of the whole recording, by NCCL's definitions."]
    if len(known) < len(frame):
        notes.append(f"{len(known):,} of {formatting.counted(len(frame), 'row')} have a bandwidth.")
    st.caption(" ".join(notes))


def _group(row: Any) -> str | None:
    return None if formatting.missing(row.process_group_id) else str(row.group_name)


def _chart(known: pd.DataFrame, colour_of: dict[str, str]) -> Any:
    points = pd.DataFrame(
        {
            "x": known["bytes"].astype(float),
            "y": known["bus_gb_per_s"].astype(float),
            "colour": known["kind"].map(colour_of),
            "kind": known["kind"],
            "group": [_group(row) for row in known.itertuples()],
            "size": known["bytes"].map(formatting.size),
            "bus": known["bus_gb_per_s"].map(formatting.rate),
            "algorithm": known["algorithm_gb_per_s"].map(formatting.rate),
            "latency": known["transfer_ns"].map(formatting.duration),
            "skew": known["skew_ns"].map(formatting.duration),
            "calls": known["calls"].map(formatting.count),
        }
    )
    left, right = points["x"].min() / 1.5, points["x"].max() * 1.5
    powers = range(math.floor(math.log2(left)), math.ceil(math.log2(right)) + 1)
    apart = max(1, len(powers) // 6)
    ticks = [2.0**power for power in powers if power % apart == 0 and left <= 2.0**power <= right]
    names = " : ".join(f"datum.value == {at:.0f} ? '{units.size(at)}'" for at in ticks)
    is_log = charts.is_dwarfed(points["y"])
    shown = set(points["group"].dropna())
    shape = (
        {
            "shape": alt.Shape(
                "group:N",
                legend=alt.Legend(
                    orient="bottom", title="process group", symbolFillColor=colours.FILL
                ),
            )
        }
        if 1 < len(shown) <= MAX_SHAPES
        else {}
    )
    return (
        alt.Chart(points)
        .mark_point(filled=True, opacity=0.8, size=80)
        .encode(
            x=alt.X(
                "x:Q",
                title="bytes that a rank gives or gets",
                scale=alt.Scale(type="log", base=2, nice=False, domain=[left, right]),
                axis=alt.Axis(values=ticks, labelExpr=f"{names} : ''") if ticks else alt.Axis(),
            ),
            y=alt.Y(
                "y:Q",
                title="bus bandwidth (GB/s)",
                scale=alt.Scale(type="log" if is_log else "linear", zero=not is_log),
            ),
            color=alt.Color("colour:N", scale=None),
            tooltip=charts.tooltips(
                "kind:N",
                "group:N",
                "size:N",
                "calls:N",
                ("bus:N", "bus bandwidth"),
                ("algorithm:N", "algorithm bandwidth"),
                "latency:N",
                "skew:N",
            ),
            **shape,
        )
        .properties(height=HEIGHT)
    )

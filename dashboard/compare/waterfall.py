"""From one wall time to the other: a bar for each part of the change, which add up to it."""

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.compare import medians, sections
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.widgets import charts, colours, formatting, menu, tables

WRITTEN = {"ns": formatting.duration, "bytes": formatting.size, "count": formatting.per_step}
BAR_HEIGHT = 30
LABEL_PIXELS = 220
WALLS = "#66707C"


def show(pair: Pair, metrics: pd.DataFrame) -> None:
    """The chart, and all metrics on request."""
    queries = {"metrics": medians.query_of(pair)}
    menu.heading(sections.TITLES[sections.METRICS], queries, "run-diff", anchor=sections.METRICS)
    parts, are_given = medians.in_parts(pair, metrics)
    bars = steps(parts)
    wall = parts.loc["wall"]
    if not are_given:
        st.caption(
            "The medians of the parts do not add up to the median wall times, as parts may change "
            "places from run to run: the bars are those of the runs with the median wall times, "
            f"**{formatting.literal(pair.base)}** and **{formatting.literal(pair.other)}**."
        )
    if len(bars) == 2:
        st.caption("No part of the wall time changed.")
    else:
        _draw(bars, pair.names if are_given else pair.runs, pair.step_name)
        st.caption(
            "Each bar begins where the one above it ends; together they are the change of the "
            f"wall time, {formatting.change(wall['change'])}. Parts that did not change are left "
            "out."
        )
    with st.expander("All metrics"):
        _table(pair, metrics)


def steps(metrics: pd.DataFrame) -> pd.DataFrame:
    """A row for each bar: both wall times, and between them the parts that changed.

    Columns: metric, since and until (where its bar begins and ends, ns), change, base, other.
    """
    wall = metrics.loc["wall"]
    rows = [("wall", 0.0, wall["base"], wall["base"], wall["base"], None)]
    at = float(wall["base"])
    parts = metrics[metrics["is_part"] & metrics["change"].notna() & (metrics["change"] != 0)]
    for metric, part in zip(parts.index, parts.itertuples(), strict=True):
        rows.append((str(metric), at, at + part.change, part.change, part.base, part.other))
        at += float(part.change)
    rows.append(("wall", 0.0, wall["other"], wall["other"], None, wall["other"]))
    columns = ["metric", "since", "until", "change", "base", "other"]
    return pd.DataFrame(rows, columns=columns)


def _draw(bars: pd.DataFrame, sides: dict[str, str], name: str) -> None:
    factor, unit = charts.duration_axis(bars[["since", "until"]].to_numpy().max())
    last = len(bars) - 1
    parts = [colours.part_of(metric) for metric in bars["metric"]]
    labels = ["from", *(colours.label(part) for part in parts[1:last]), "to"]
    is_part = bars["metric"] != "wall"
    left, right = bars[["since", "until"]].min(axis=1), bars[["since", "until"]].max(axis=1)
    data = pd.DataFrame(
        {
            "label": labels,
            "what": [
                f"wall time of {sides[BASE]}",
                *labels[1:last],
                f"wall time of {sides[OTHER]}",
            ],
            "left": left / factor,
            "right": right / factor,
            "end": bars["until"] / factor,
            "next": [*labels[1:], labels[-1]],
            "text": [
                formatting.change(row.change) if part else formatting.duration(row.change)
                for row, part in zip(bars.itertuples(), is_part, strict=True)
            ],
            "from": bars[BASE].map(formatting.duration),
            "to": bars[OTHER].map(formatting.duration),
            "colour": [
                colours.of(part) if is_one else WALLS
                for part, is_one in zip(parts, is_part, strict=True)
            ],
        }
    )
    order = list(data["label"])
    names = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL_PIXELS))
    most = float(data["right"].max())
    scale = alt.Scale(domain=[min(0.0, float(data["left"].min())), most * 1.12], nice=False)
    base = alt.Chart(data).encode(y=names)
    shown = charts.tooltips(("what:N", "part"), ("text:N", "change"), "from:N", "to:N")
    boxes = base.mark_bar(height={"band": 0.72}).encode(
        x=alt.X("left:Q", title=f"{name} ({unit})", scale=scale, axis=alt.Axis(tickCount=8)),
        x2=alt.X2("right:Q"),
        color=alt.Color("colour:N", scale=None),
        tooltip=shown,
    )
    ink = colours.ink()
    metrics = base.mark_text(align="left", dx=5, color=ink).encode(
        x=alt.X("right:Q", scale=scale), text=alt.Text("text:N")
    )
    links = (
        alt.Chart(data[:last])
        .mark_rule(color=ink, opacity=0.35, strokeDash=[2, 2])
        .encode(
            x=alt.X("end:Q", scale=scale),
            y=alt.Y("label:N", sort=order, bandPosition=0.86),
            y2=alt.Y2("next:N", bandPosition=0.14),
        )
    )
    chart = (links + boxes + metrics).properties(height=BAR_HEIGHT * len(data) + charts.AXIS_HEIGHT)
    st.altair_chart(chart, alt="From one wall time to the other, part by part")


def _table(pair: Pair, metrics: pd.DataFrame) -> None:
    frame = metrics.reset_index()
    frame = frame[frame["base"].notna() | frame["other"].notna()]
    rows = pd.DataFrame(
        {
            "metric": [
                colours.label(colours.part_of(metric)) if is_part else metric.replace("_", " ")
                for metric, is_part in zip(frame["metric"], frame["is_part"], strict=True)
            ],
            **{
                column: [
                    WRITTEN[unit](value)
                    for unit, value in zip(frame["unit"], frame[column], strict=True)
                ]
                for column in ("base", "other")
            },
            "change": [
                formatting.change(value, WRITTEN[unit])
                for unit, value in zip(frame["unit"], frame["change"], strict=True)
            ],
            "change, %": [formatting.percent_change(value) for value in frame["percent"]],
        }
    )
    if pair.groups is not None:
        for place, side in ((2, BASE), (4, OTHER)):
            rows.insert(place, f"{side}_spread", _spreads(frame, side))
        rows["rank test"] = [medians.rank_test(pair.groups, p) for p in frame["p"]]
        st.caption("Medians; ±: how far the runs are from it, in the median.")
    tables.show(
        rows,
        "run_diff",
        key=f"metrics-{pair.key}",
        labels={"base": "from", "other": "to", "base_spread": "±", "other_spread": "±"},
        figures=list(rows.columns[1:]),
    )


def _spreads(frame: pd.DataFrame, side: str) -> list[str]:
    """How far a side's runs are from the median; nothing for one run."""
    return [
        "" if formatting.missing(value) else WRITTEN[unit](value)
        for unit, value in zip(frame["unit"], frame[f"{side}_spread"], strict=True)
    ]

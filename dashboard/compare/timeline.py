"""The timelines of a step of each of two runs under one zoom."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import detail, lanes
from dashboard.compare.picker import BASE, OTHER, Pair
from dashboard.compare.steps import MOST_UNITS, Step, pick
from dashboard.widgets import charts, formatting, show_sql, timeline, zoom

COLUMNS = "lane, class, start_ns, end_ns, dur_ns, name, op, module, work_item_id"


@st.fragment
def show(pair: Pair) -> None:
    """The first run's above, the second's below; brushing either zooms both."""
    st.subheader("One step of each, on one time axis", anchor=False)
    steps = pick(pair)
    if len(steps) < 2:
        st.caption("No step was recorded in one of them: there is no timeline to set against it.")
        return
    whole = max(step.length_ns for step in steps.values())
    since, until = timeline.ZOOM.stretch(whole)
    described = zoom.described(since, until, whole)
    timeline.ZOOM.controls(f"compare-{pair.key}", since, until, whole, described)
    factor, unit = charts.duration_axis(until - since)
    ticked = detail.units_of(pair, st.query_params.get("row"))
    drawn = {}
    for side, step in steps.items():
        occupancy = step.occupancy(since, until)
        units = step.units(
            COLUMNS, since, until, order_by="dur_ns DESC, start_ns", limit=MOST_UNITS
        )
        drawn[side] = occupancy, units
    frames = {side: (data.rows(busy), data.rows(units)) for side, (busy, units) in drawn.items()}
    parts = {
        part
        for busy, units in frames.values()
        for part in [*busy["part"], *units["class"]]
        if not formatting.missing(part)
    }
    charts.legend_of(parts)
    for side, step in steps.items():
        busy, units = frames[side]
        _heading(pair, side, step, since, until)
        lanes.draw(
            timeline.since_start(busy, step.start_ns),
            timeline.since_start(units, step.start_ns),
            lanes.Axis(since, until, factor, unit, last=side == OTHER),
            parts,
            ticked.get(side, set()) if ticked else None,
            key=f"compared-{side}-{pair.key}-{step.start_ns}-{since}-{until}",
            on_zoom=timeline.ZOOM.to,
        )
    with st.container(horizontal=True):
        for side, (occupancy, units) in drawn.items():
            show_sql.show(occupancy, f"{side}, busy")
            show_sql.show(units, f"{side}, activities")
    st.caption(_note(steps[BASE], ticked, frames))


def _heading(pair: Pair, side: str, step: Step, since: int, until: int) -> None:
    """Which run and step, and how much of what is in the stretch."""
    count = step.units("count(*) AS units, sum(dur_ns) AS dur_ns", since, until)
    (row,) = data.rows(count).itertuples()
    one, many = ("activity", "activities") if step.on_device else ("operator", "operators")
    things = f"{int(row.units):,} {one if row.units == 1 else many}"
    taken = "" if formatting.missing(row.dur_ns) else f" of {formatting.duration(row.dur_ns)}"
    st.markdown(
        f"**{formatting.literal(pair.runs[side])}** · {step.label} · here {things}{taken} in all"
    )


def _note(
    step: Step, ticked: dict[str, set[int]], frames: dict[str, tuple[pd.DataFrame, pd.DataFrame]]
) -> str:
    said = "Drag over the upper part of either to zoom into both."
    if ticked:
        said += " What belongs to the row ticked above stands out."
    if any(len(units) == MOST_UNITS for _, units in frames.values()):
        said += f" Of the activities the {MOST_UNITS:,} longest of each are drawn: zoom in for all."
    if not step.on_device:
        said += (
            " Without a device in both runs, they show the outermost operators of the host; where "
            "there is none, it was in Python, in compiled code without a record, or waited."
        )
    return said

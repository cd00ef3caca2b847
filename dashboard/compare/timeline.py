"""The timelines of a step of each of two runs, with a common zoom."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import detail, sections
from dashboard.compare.pair import BASE, Pair
from dashboard.compare.steps import MOST_WORK_ITEMS, Step, compared
from dashboard.drawing import formatting
from dashboard.widgets import menu, timeline, timeline_chart, timeline_link, zoom

COLUMNS = "lane, class AS part, start_ns, end_ns, dur_ns, name, op, module, work_item_id"
DETAILS = {"name": "name", "op": "operator", "module": "module"}


@st.fragment
def show(pair: Pair) -> None:
    """Draw the first run's timeline above the second's. A drag over either zooms both."""
    heading = menu.heading_line(sections.TITLES[sections.TIMELINE], sections.TIMELINE)
    steps = compared(pair)
    if len(steps) < 2:
        st.caption("One of the runs has no steps, so there are no timelines to compare.")
        return
    whole = max(step.length_ns for step in steps.values())
    since, until = zoom.TIME.stretch(whole)
    described = zoom.described(since, until, whole)
    zoom.TIME.controls(f"compare-{pair.key}", since, until, whole, described)
    ticked = detail.work_items_of(pair, st.query_params.get("row"))
    drawn = {}
    for side, step in steps.items():
        occupancy = step.occupancy(since, until)
        work_items = step.work_items(
            COLUMNS, since, until, order_by="dur_ns DESC, start_ns", limit=MOST_WORK_ITEMS
        )
        drawn[side] = occupancy, work_items
    frames = {
        side: (data.rows(busy), data.rows(work_items)) for side, (busy, work_items) in drawn.items()
    }
    timeline_chart.legend(
        {part for both in frames.values() for frame in both for part in frame["part"]}
    )
    for side, step in steps.items():
        busy, work_items = frames[side]
        _heading(pair, side, step, since, until)
        if busy.empty and work_items.empty:
            st.caption("Nothing ran in this range, because the step had ended or not yet started.")
            continue
        if ticked:
            is_other = ~work_items["work_item_id"].isin(ticked.get(side, set()))
            work_items = work_items.assign(is_faint=is_other)
        timeline_chart.draw(
            {"": timeline_chart.strip(timeline.since_start(busy, step.start_ns))},
            timeline.since_start(work_items, step.start_ns),
            since,
            until,
            parts={*busy["part"], *work_items["part"]},
            details=DETAILS,
            origin="step",
            key=f"compared-{side}-{pair.key}",
            file=f"{pair.runs[side]}-timeline",
            of=pair.runs[side],
            on_zoom=zoom.TIME.to,
        )
    queries = {
        f"{side}, {what}": query
        for side, both in drawn.items()
        for what, query in zip(("busy", "activities"), both, strict=True)
    }
    with heading:
        menu.show(queries, "timelines")
        numbered = [(step.run, step.number) for step in steps.values() if step.number is not None]
        if len(numbered) == 2:
            timeline_link.show_pair(*numbered)
    st.caption(_note(steps[BASE], ticked, frames))


def _heading(pair: Pair, side: str, step: Step, since: int, until: int) -> None:
    """Show the run, the step, and the number and total time of activities in the range."""
    count = step.work_items("count(*) AS work_items, sum(dur_ns) AS dur_ns", since, until)
    (row,) = data.rows(count).itertuples()
    one, many = ("activity", "activities") if step.on_device else ("operator", "operators")
    items = f"{int(row.work_items):,} {one if row.work_items == 1 else many}"
    total = "" if formatting.missing(row.dur_ns) else f" ({formatting.duration(row.dur_ns)})"
    st.markdown(
        f"**{formatting.literal(pair.runs[side])}** · {step.label} · {items}{total} in this range"
    )


def _note(
    step: Step, ticked: dict[str, set[int]], frames: dict[str, tuple[pd.DataFrame, pd.DataFrame]]
) -> str:
    text = "Each timeline shows only what the step launched. Drag over one to zoom into both."
    if ticked:
        text += " The activities of the row selected above are highlighted."
    if any(len(work_items) == MOST_WORK_ITEMS for _, work_items in frames.values()):
        text += (
            f" Each shows its {MOST_WORK_ITEMS:,} longest activities. Zoom in to see all of them."
        )
    if not step.on_device:
        text += (
            " Because a run has no device, both show the outermost operators of the host. Between "
            "them, the host ran Python or compiled code that was not recorded, or waited."
        )
    return text

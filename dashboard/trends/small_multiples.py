"""A small chart for each series: a row of them for each metric, each in the unit that suits it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.drawing import formatting
from dashboard.trends import axes, chart
from dashboard.trends.axes import Look
from dashboard.trends.chart import label

RUN_NUMBER, TIME = "run number", "time"
MOST_SERIES = 8
MOST_CHARTS = 9  # drawn at once; server and browser take about 30 ms for each
# As many charts beside each other as there is room for, all of one width. A chart keeps 260 pixels
# where the page has them.
GRID = (
    '<style>[class*="st-key-trend-row-"] { display: grid; gap: 0 1rem;'
    " grid-template-columns: repeat(auto-fit, minmax(min(260px, 100%), 1fr)); }</style>"
)


def controls() -> tuple[bool, bool]:
    """Whether the x axis is time, and whether the y axis is logarithmic; the URL carries both."""
    axis = st.segmented_control(
        "x axis",
        [RUN_NUMBER, TIME],
        default=RUN_NUMBER,
        required=True,
        key="x",
        bind="query-params",
        help="**run number**: the run's place in its series, from 1 for the oldest.",
    )
    is_log = st.toggle("Log scale", key="log", bind="query-params")
    return axis == TIME, is_log


def drawn_series(frame: pd.DataFrame, picked: Sequence[str]) -> list[str]:
    """The series that get charts: those of picked runs first, then those with the most runs."""
    runs = frame.groupby("series")["run_id"].nunique()
    with_picked = set(frame[frame["run_id"].isin(picked)]["series"])
    order = sorted(
        runs.index, key=lambda series: (series not in with_picked, -runs[series], series)
    )
    if (left := len(order) - MOST_SERIES) > 0:
        st.caption(
            f"Charts show {MOST_SERIES} of {len(order):,} series, those with the most runs. To see "
            f"the other {left:,}, choose a filter above, or pick runs of them on the left."
        )
    return order[:MOST_SERIES]


def show(
    frame: pd.DataFrame,
    metrics: Sequence[str],
    series: Sequence[str],
    by_time: bool,
    is_log: bool,
    at: str | None,
    picked: Sequence[str],
    on_pick: Callable[[str], None],
) -> None:
    """The rows of charts; a click near a point calls `on_pick` with its run.

    `frame` has the rows of view `trend` for these series, `at` is the run whose card is open.
    """
    st.html(GRID)
    between = _between(frame) if by_time else None
    look = Look(is_log, between, at, frozenset(picked), len(series) > 1)
    drawn = 0
    for metric in metrics:
        rows = frame[frame["metric"] == metric]
        if rows.empty:
            st.caption(f"{label(metric)}: not known of these runs.")
            continue
        drawn += len(series)
        if drawn <= MOST_CHARTS:
            st.markdown(f"**{label(metric)}**")
            _row(rows, frame, series, look, on_pick)
            continue
        charts = formatting.counted(len(series), "chart")
        opened = st.expander(
            f"{label(metric)}: {charts}", key=f"trend-open-{metric}", on_change="rerun"
        )
        if opened.open:
            with opened:
                _row(rows, frame, series, look, on_pick)


def _between(frame: pd.DataFrame) -> tuple[pd.Timestamp, pd.Timestamp]:
    """The ends of an axis of time with all of these runs."""
    since, until = frame["started_at"].min(), frame["started_at"].max()
    margin = max((until - since) * 0.02, pd.Timedelta(minutes=1))
    return since - margin, until + margin


def _row(
    rows: pd.DataFrame,
    frame: pd.DataFrame,
    series: Sequence[str],
    look: Look,
    on_pick: Callable[[str], None],
) -> None:
    """A metric's charts."""
    metric = rows["metric"].iloc[0]
    with st.container(key=f"trend-row-{metric}"):
        for place, name in enumerate(series):
            own = rows[rows["series"] == name]
            if own.empty or (look.is_log and own["value"].max() <= 0):
                why = "not known of these runs" if own.empty else "nothing above 0 for a log scale"
                st.caption(f"{formatting.literal(formatting.middle_out(name, 60))}: {why}.")
                continue
            numbers = frame[frame["series"] == name]["run_number"]
            # A unit for each: of series in seconds and in microseconds, one has no good unit.
            factor, unit = axes.unit_of(own["value"].abs().max(), str(own["unit"].iloc[0]))
            chart.draw(
                own,
                (int(numbers.min()), int(numbers.max())),
                replace(look, factor=factor, unit=unit),
                f"trend-{metric}-{place}",
                on_pick,
            )
    if look.is_log and (left_out := int((rows["value"] <= 0).sum())):
        st.caption(
            f"{formatting.counted(left_out, 'point')} of 0 or less left out: a log scale has no "
            "place for them."
        )

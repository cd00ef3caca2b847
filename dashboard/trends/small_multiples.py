"""Small charts: a row for each metric, with a chart for each series in a suitable unit."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.drawing import charts, formatting
from dashboard.trends import chart
from dashboard.trends.chart import ChartStyle, formatted, label

RUN_NUMBER, TIME = "run number", "time"
MAX_SERIES = 8
MAX_CHARTS = 12  # drawn at once; each takes about 15 ms
# A row holds as many charts as fit, all of the same width: at least 260 pixels, if the page is that
# wide.
GRID = (
    '<style>[class*="st-key-trend-row-"] { display: grid; gap: 0 1rem;'
    " grid-template-columns: repeat(auto-fit, minmax(min(260px, 100%), 1fr)); }</style>"
)


def controls() -> tuple[bool, bool]:
    """Return whether the x axis is time and whether the y axis is logarithmic. The URL has both."""
    axis = st.segmented_control(
        "x axis",
        [RUN_NUMBER, TIME],
        default=RUN_NUMBER,
        required=True,
        key="x",
        bind="query-params",
        help="**run number**: the position of the run in its series. The oldest run is 1.",
    )
    is_log = st.toggle("Log scale", key="log", bind="query-params")
    return axis == TIME, is_log


def drawn_series(frame: pd.DataFrame, picked: Sequence[str]) -> list[str]:
    """Return the series to draw: series of picked runs first, then series with the most runs."""
    runs = frame.groupby("series")["run_id"].nunique()
    with_picked = set(frame[frame["run_id"].isin(picked)]["series"])
    order = sorted(
        runs.index, key=lambda series: (series not in with_picked, -runs[series], series)
    )
    if (left := len(order) - MAX_SERIES) > 0:
        st.caption(
            f"Charts show {MAX_SERIES} of {len(order):,} series, those with the most runs. To see "
            f"the other {left:,}, set a filter above or pick their runs on the left."
        )
    return order[:MAX_SERIES]


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
    """Draw the rows of charts. A click near a point calls `on_pick` with its run.

    `frame` holds the rows of view `trend` for these series. `at` is the run whose card is open.
    """
    st.html(GRID)
    if by_time:
        frame = _dated(frame)
        if frame.empty:
            return
    between = _between(frame) if by_time else None
    style = ChartStyle(is_log, between, at, frozenset(picked), len(series) > 1)
    drawn = 0
    for metric in metrics:
        rows = frame[frame["metric"] == metric]
        if rows.empty:
            st.caption(f"{label(metric)}: unknown in these runs.")
            continue
        drawn += len(series)
        if drawn <= MAX_CHARTS:
            st.markdown(f"**{label(metric)}**")
            _row(rows, frame, series, style, on_pick)
            continue
        number = formatting.counted(len(series), "chart")
        opened = st.expander(
            f"{label(metric)}: {number}", key=f"trend-open-{metric}", on_change="rerun"
        )
        if opened.open:
            with opened:
                _row(rows, frame, series, style, on_pick)


def _dated(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of runs whose start is known. Say how many are left out."""
    is_known = frame["started_at"].notna()
    if left_out := frame["run_id"][~is_known].nunique():
        st.caption(
            f"Not shown: {formatting.counted(left_out, 'run')} without a recorded start. On the "
            "axis **run number**, all runs are shown."
        )
    return frame[is_known]


def _between(frame: pd.DataFrame) -> tuple[pd.Timestamp, pd.Timestamp]:
    """Return the ends of a time axis that includes all these runs."""
    since, until = frame["started_at"].min(), frame["started_at"].max()
    margin = max((until - since) * 0.02, pd.Timedelta(minutes=1))
    return since - margin, until + margin


def _row(
    rows: pd.DataFrame,
    frame: pd.DataFrame,
    series: Sequence[str],
    style: ChartStyle,
    on_pick: Callable[[str], None],
) -> None:
    """Draw the charts of a metric."""
    metric = rows["metric"].iloc[0]
    has_own_axis = False
    with st.container(key=f"trend-row-{metric}"):
        for index, name in enumerate(series):
            own = rows[rows["series"] == name]
            if own.empty or (style.is_log and own["value"].max() <= 0):
                why = "unknown in these runs" if own.empty else "no value above 0 for a log scale"
                st.caption(f"{formatting.literal(formatting.middle_out(name, 60))}: {why}.")
                continue
            numbers = frame[frame["series"] == name]["run_number"]
            if len(numbers.unique()) == 1:
                _figure(own.iloc[0], f"trend-{metric}-{index}", on_pick)
                continue
            is_log = style.is_log or bool(
                own["value"].min() > 0 and charts.is_dwarfed(own["value"])
            )
            has_own_axis |= is_log and not style.is_log
            chart.draw(
                own,
                (int(numbers.min()), int(numbers.max())),
                replace(style, is_log=is_log),
                f"trend-{metric}-{index}",
                on_pick,
            )
    if has_own_axis:
        st.caption("Where a value dwarfs the others, the axis is logarithmic.")
    if style.is_log and (left_out := int((rows["value"] <= 0).sum())):
        st.caption(
            f"Not shown: {formatting.counted(left_out, 'point')} of 0 or less, which a log scale "
            "cannot show."
        )


def _figure(row: pd.Series, key: str, on_pick: Callable[[str], None]) -> None:
    """Show the only run of a series as a number, with a button that opens it."""
    with st.container(key=f"{key}-figure"):
        name = formatting.literal(formatting.middle_out(str(row["series"]), 60))
        st.metric(name, formatted(row["value"], str(row["unit"])))
        st.button(
            formatting.literal(str(row["run_id"])),
            key=f"{key}-open",
            type="tertiary",
            on_click=on_pick,
            args=[str(row["run_id"])],
        )

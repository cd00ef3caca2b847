"""The card of the clicked run: its metrics, their change since the previous run, and links."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, formatting
from dashboard.trends import chart
from dashboard.widgets import compare_link, median_step
from ingest.server import Value, select

PAGES = ("runs", "overview", "operators", "bubbles", "memory", "advice")


def show(frame: pd.DataFrame, run: str, close: Callable[[], None]) -> None:
    """Draw the card of a run. `frame` holds rows of view `trend`."""
    own = frame[frame["run_id"] == run]
    series = frame[frame["series"] == own["series"].iloc[0]]
    runs = list(dict.fromkeys(series["run_id"]))
    index = runs.index(run)
    previous = runs[index - 1] if index else None
    before = series[series["run_id"] == previous].set_index("metric")["value"]
    with st.container(border=True, key="trend-run"):
        with st.container(horizontal=True, vertical_alignment="center"):
            name = formatting.clipped(own["series"].iloc[0], charts.TOOLTIP_WIDTH)
            st.markdown(
                f"**{formatting.literal(run)}**  \n{formatting.literal(name)}, "
                f"{formatting.moment(own['started_at'].iloc[0])}"
            )
            st.button("Close", icon=":material/close:", on_click=close, type="tertiary")
        with st.container(horizontal=True):
            for row in own.itertuples():
                _metric(row, before.get(row.metric))
        _step(run)
        _links(run, previous, frame)


def _metric(row: Any, before: float | None) -> None:
    """Show the metric, and its change since the previous run."""
    percent = 100 * (row.value - before) / abs(before) if before else None
    st.metric(
        chart.label(row.metric),
        chart.formatted(row.value, row.unit),
        None if percent is None else f"{chart.change(percent)} from the previous run",
        delta_color="off",
        delta_arrow="off",
    )


def _step(run: str) -> None:
    """Show which step the metrics describe."""
    where: dict[str, Value] = {"run_id": run, "is_default": True}
    for metrics in data.rows(select("*", "run_metrics", where)).itertuples():
        of = median_step.name(str(metrics.steps_from)).capitalize()
        st.caption(f"{of}: {median_step.described(metrics)}.")


def _links(run: str, previous: str | None, frame: pd.DataFrame) -> None:
    pages = st.session_state["pages"]
    others = [other for other in dict.fromkeys(frame["run_id"][::-1]) if other != run]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for page in PAGES:
            st.page_link(pages[page], query_params={"run": run})
        if previous:
            compare_link.show(previous, run, "Compare with the previous run")
    if others:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            base = st.selectbox(
                "Compare with",
                others,
                index=None,
                key="against",
                bind="query-params",
                placeholder="Pick a run",
                width=420,
            )
            if base:
                compare_link.show(str(base), run, "Compare with this base")

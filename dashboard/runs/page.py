"""Page Runs: what is in the store, and which of it the other pages are about."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.query import Query, select
from dashboard.runs import files
from dashboard.widgets import (
    compare_link,
    formatting,
    incomplete_runs,
    metrics,
    recompiled,
    run_picker,
    show_sql,
    tables,
)
from dashboard.widgets.view import View

COLUMNS = (
    "run_id, name, model, mode, device_name, tags, ranks, devices, span_ns, busy_ns, "
    "bubble_percent, peak_bytes, recompiles, problems, events, started_at, ingested_at"
)
SEARCHED = "concat_ws(' ', run_id, name, model, mode, device_name, tags)"
TABLE_KEY = "runs_table"
COMPLETE = "Those that took time: the rows of table events. Files, below, counts the others too."


def page(view: View) -> None:
    """The page."""
    picked: list[str] = view.runs
    _metrics(picked)
    search, tag = _filters()
    query = _query(search, tag)
    frame = data.rows(query)
    if frame.empty:
        st.info("No run fits the search; clear it to see all.", icon=":material/search_off:")
        return
    _table(frame, picked)
    with st.container(horizontal=True):
        show_sql.show(query)
        tables.downloads(query, "runs", "runs")
    if picked:
        files.show(picked)


def _metrics(picked: Sequence[str]) -> None:
    """The answer first: figures of the picked run, and ways on."""
    if not picked:
        st.markdown(
            "Tick a run, or several, and go on to **Operators**, **Bubbles** or **Memory**; tick "
            "two to **Compare** them."
        )
        return
    if len(picked) == 1:
        _metrics_of(picked[0])
    with st.container(horizontal=True):
        count = "it" if len(picked) == 1 else f"these {len(picked)}"
        pages = st.session_state["pages"]
        st.page_link(pages["overview"], label=f"Overview of {count}", icon=":material/dashboard:")
        st.page_link(pages["operators"], label=f"Operators of {count}", icon=":material/bar_chart:")
        st.page_link(
            pages["bubbles"], label=f"Bubbles of {count}", icon=":material/hourglass_empty:"
        )
        st.page_link(pages["memory"], label=f"Memory of {count}", icon=":material/memory_alt:")
        if len(picked) == 2:
            compare_link.show_by_age(picked, "Compare these 2")


def _metrics_of(picked: str) -> None:
    (run,) = data.rows(select("*", "run_overview", {"run_id": picked})).itertuples()
    if damaged := incomplete_runs.warning([picked]):
        st.warning(damaged, icon=":material/running_with_errors:")
    recompiled.warn([picked])
    if not damaged and not run.devices and formatting.missing(run.peak_bytes):
        st.info(incomplete_runs.no_device([picked]), icon=":material/memory:")
    with st.container(horizontal=True):
        if run.devices:
            metrics.times(run, devices=run.devices)
            st.metric("Device activities", formatting.count(run.activities))
        if not formatting.missing(run.peak_bytes):
            st.metric("Peak memory", formatting.size(run.peak_bytes))
        if not formatting.missing(run.events):
            st.metric("Complete events", formatting.count(run.events), help=COMPLETE)


def _filters() -> tuple[str, tuple[str, str] | None]:
    """The text and the tag, its key and its value, to look for."""
    tags = data.rows(select("DISTINCT unnest(map_entries(tags)) AS tag", "run_overview"))["tag"]
    labels = {f"{tag['key']}={tag['value']}": (tag["key"], tag["value"]) for tag in tags}
    left, right = st.columns([3, 2]) if labels else (st.container(), None)
    with left:
        search = run_picker.search("name, model, mode, device or tag", key="find")
    if right is None:
        return search, None
    with right:
        tag = st.selectbox(
            "Tag", sorted(labels), index=None, key="tag", bind="query-params", placeholder="any"
        )
    return search, labels.get(str(tag))


def _query(search: str, tag: tuple[str, str] | None) -> Query:
    where = {f"tags[{ingest.literal(tag[0])}]": tag[1]} if tag else {}
    return select(
        COLUMNS,
        "run_overview",
        where,
        containing=(SEARCHED, search),
        order_by=data.NEWEST_FIRST,
    )


def _table(frame: pd.DataFrame, picked: Sequence[str]) -> None:
    """The runs; ticking one picks it in the sidebar, and the other way round."""
    shown = list(frame["run_id"])

    def pick(rows: list[int]) -> None:
        ticked = [shown[row] for row in rows]
        elsewhere = [run for run in st.session_state[run_picker.RUN_KEY] if run not in shown]
        st.session_state[run_picker.RUN_KEY] = elsewhere + ticked

    frame = frame.assign(
        tags=[[f"{k}={v}" for k, v in (tags or {}).items()] for tags in frame.tags]
    )
    tables.show(
        frame,
        "run_overview",
        key=TABLE_KEY,
        select="multi-row",
        selected=[row for row, run in enumerate(shown) if run in picked],
        on_select=pick,
        hidden=_without_news(frame),
        labels={"run_id": "run", "ingested_at": "added", "events": "complete events"},
    )


def _without_news(frame: pd.DataFrame) -> list[str]:
    """Columns that say nothing of any run: empty ones, single ranks, names that the ids repeat."""
    empty = [
        column
        for column in (
            "model",
            "mode",
            "device_name",
            "tags",
            "problems",
            "peak_bytes",
            "recompiles",
        )
        if not frame[column].map(lambda value: not formatting.missing(value) and bool(value)).any()
    ]
    repeated = all(
        run_id.startswith(f"{name}-")
        for run_id, name in zip(frame["run_id"], frame["name"], strict=True)
    )
    single = [column for column in ("ranks", "devices") if (frame[column] == 1).all()]
    return [*empty, *single, *(["name"] if repeated else [])]

"""Page Runs: what is in the store, and which of it the other pages are about."""

from collections.abc import Sequence

import streamlit as st

from dashboard import data
from dashboard.query import select
from dashboard.runs import columns, editing, files, links, table
from dashboard.widgets import (
    formatting,
    incomplete_runs,
    menu,
    metrics,
    recompiled,
    run_picker,
)
from dashboard.widgets.view import View

COMPLETE = "Events with a duration: the rows of table events. Files, below, counts the others."


def page(view: View) -> None:
    """The page."""
    picked: list[str] = view.runs
    _metrics(picked)
    search, tag, group, chosen = _filters()
    query = table.query(chosen, search, tag, group)
    frame = data.rows(query)
    if frame.empty:
        st.info("No run fits the search; clear it to see all.", icon=":material/search_off:")
        return
    menu.heading(formatting.counted(len(frame), "run"), {"runs": query}, "runs")
    table.show(frame, picked)
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
    with st.container(horizontal=True, vertical_alignment="center"):
        links.show(picked)
        editing.button(picked)


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


def _filters() -> tuple[str, tuple[str, str] | None, str | None, list[str]]:
    """The text and the tag to look for, what to group by, and the columns to show."""
    tags = data.rows(select("DISTINCT unnest(map_entries(tags)) AS tag", "run_overview"))["tag"]
    labels = {f"{tag['key']}={tag['value']}": (tag["key"], tag["value"]) for tag in tags}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = run_picker.search("name, device or label", key="find")
        tag = None
        if labels:
            tag = st.selectbox(
                "Tag",
                sorted(labels),
                index=None,
                key="tag",
                bind="query-params",
                placeholder="any",
                width=150,
            )
        group = table.pick_group(sorted({key for key, _ in labels.values()}))
        chosen = columns.choose()
    return search, labels.get(str(tag)), group, chosen

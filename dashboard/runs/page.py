"""Page Runs: the runs in the store. Ticked runs are shown on the other pages."""

from collections.abc import Sequence

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.runs import columns, editing, files, links, table
from dashboard.widgets import incomplete_runs, menu, metrics, recompiled, url
from dashboard.widgets.view import View
from ingest.server import select

COMPLETE = "Events with a duration: the rows of table events. Files, below, counts other events."
RECORDING = (
    "These times cover the whole recording and are means over its devices. Step time and busy % "
    "in the table describe the median step on the device of the straggler or, without one, of the "
    "median rank."
)
COUNTED_FROM_ZERO = "memory_without_totals"  # a source whose memory is counted from 0
HEIGHT = 48  # pixels of the line of links


def page(view: View) -> None:
    """Draw the page."""
    picked: list[str] = view.runs
    # The container is drawn even if it is empty. Otherwise a tick would move the widgets below
    # it: Streamlit would create them anew, and they would lose their values in the URL.
    with st.container():
        _links(picked)
    search, tag, group, chosen = _filters()
    query = table.query(chosen, search, tag, group)
    frame = data.rows(query)
    if frame.empty:
        st.info("No run matches the search. Clear it to see all.", icon=":material/search_off:")
        return
    count = formatting.counted(len(frame), "run")
    menu.heading(f"{count}, latest first", {"runs": query}, "runs")
    table.show(frame, picked, query)
    if picked:
        _details(picked)


def _links(picked: Sequence[str]) -> None:
    """Draw links to the pages of the picked runs, in a line of fixed height.

    The height is fixed so that a tick does not move the table.
    """
    with st.container(horizontal=True, vertical_alignment="center", height=HEIGHT, border=False):
        if picked:
            links.show(picked)
        else:
            st.markdown(
                "Tick one or more runs to open them in **Operators**, **Bubbles** or **Memory**. "
                "Tick two runs to **Compare** them."
            )


def _details(picked: Sequence[str]) -> None:
    """Show the metrics of the picked run, the button to edit labels, and the files."""
    with st.container(horizontal=True, vertical_alignment="center"):
        title = picked[0] if len(picked) == 1 else formatting.counted(len(picked), "picked run")
        st.subheader(formatting.literal(title), anchor=False, width="content")
        editing.button(picked)
    if len(picked) == 1:
        _metrics_of(picked[0])
    files.show(picked)


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
            _peak(picked, run.peak_bytes)
        if not formatting.missing(run.events):
            st.metric("Complete events", formatting.count(run.events), help=COMPLETE)
    if run.devices:
        st.caption(RECORDING)


def _peak(run: str, peak_bytes: float) -> None:
    """Show the peak, with a note if it lacks memory allocated before the recording."""
    counted_from_zero = f"list_contains(warning_codes, '{COUNTED_FROM_ZERO}')"
    sources = data.rows(select("1", "sources", {"run_id": run, counted_from_zero: True}))
    note = None if sources.empty else "without memory from before the recording"
    st.metric(
        "Peak memory", formatting.size(peak_bytes), note, delta_color="off", delta_arrow="off"
    )


def _filters() -> tuple[str, tuple[str, str] | None, str | None, list[str]]:
    """Return the search text, the tag to filter by, the grouping, and the columns to show."""
    tags = data.rows(select("DISTINCT unnest(map_entries(tags)) AS tag", "run_overview"))["tag"]
    labels = {f"{tag['key']}={tag['value']}": (tag["key"], tag["value"]) for tag in tags}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = url.search("name, device or label", key="find")
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

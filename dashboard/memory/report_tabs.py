"""Tables about a device's memory: fragmentation, leaks, operators, the allocator's settings."""

import streamlit as st

from dashboard import data
from dashboard.drawing import tables
from dashboard.widgets import menu
from ingest.server import DeviceMemory, Section, reports

MAX_ROWS = 1_000


def show(device: DeviceMemory) -> None:
    """Show a tab for each table with rows, and a sentence for each other table."""
    sections = _of_snapshots(device) if device.origin == "snapshot" else []
    steps = len(data.rows(reports.memory.steps(device)))
    sections.append(reports.memory.leaks(device, steps))
    if device.origin == "trace":
        sections.append(reports.memory.by_operator(device))
    with_rows = [section for section in sections if not data.rows(section.query).empty]
    if with_rows:
        st.subheader("Reports", anchor=False)
        titles = [section.title for section in with_rows]
        tabs = st.tabs(titles, key="memory-report", on_change="rerun")
        for tab, section in zip(tabs, with_rows, strict=True):
            if tab.open:
                with tab:
                    _table(device, section)
    if without := [
        section.absent for section in sections if section.absent and section not in with_rows
    ]:
        st.caption(" ".join(without))


def _of_snapshots(device: DeviceMemory) -> list[Section]:
    fragments = [reports.memory.fragmentation(device, level) for level in ("pool", "segment")]
    return [*fragments, reports.memory.allocator_settings(device)]


def _table(device: DeviceMemory, section: Section) -> None:
    frame = data.rows(section.query)
    title = section.title.lower()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(section.note, width="content")
        menu.show({title: section.query}, f"{device.run_id}-{title}")
    key = f"{title.replace(' ', '-')}-{device.key}"
    tables.show(frame.head(MAX_ROWS), section.view, key=key, labels=section.labels)
    if len(frame) > MAX_ROWS:
        st.caption(
            f"The first {MAX_ROWS:,} of {len(frame):,} rows are shown. Downloads and SQL have all."
        )

"""Tables about a device's memory: fragmentation, leaks, operators, the allocator's settings."""

from dataclasses import dataclass, field

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.memory.device_memory import MemoryDevice
from dashboard.widgets import menu
from ingest.server import Query, select

MAX_ROWS = 1_000
MIN_STEPS = 3  # to see a leak: two steps after the first
FRAGMENTS = (
    "segments, bytes, active_bytes, inactive_bytes, inactive_percent, stranded_bytes, "
    "rounding_bytes, largest_inactive_bytes"
)
FRAGMENT_LABELS = {
    "bytes": "reserved",
    "active_bytes": "in use",
    "inactive_bytes": "unused",
    "inactive_percent": "unused, %",
    "stranded_bytes": "stranded",
    "rounding_bytes": "rounding",
    "largest_inactive_bytes": "largest unused",
    "address": "address",
}


@dataclass(frozen=True)
class Report:
    """A table in a tab: its query, its caption, and the text for a table without rows."""

    title: str
    view: str
    query: Query
    note: str
    absent: str
    hidden: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)


def show(device: MemoryDevice) -> None:
    """Show a tab for each report with rows, and a sentence for each other report."""
    reports = _of_snapshots(device) if device.origin == "snapshot" else []
    reports.append(_leaks(device))
    if device.origin == "trace":
        reports.append(_operators(device))
    with_rows = [report for report in reports if not data.rows(report.query).empty]
    if with_rows:
        st.subheader("Reports", anchor=False)
        titles = [report.title for report in with_rows]
        tabs = st.tabs(titles, key="memory-report", on_change="rerun")
        for tab, report in zip(tabs, with_rows, strict=True):
            if tab.open:
                with tab:
                    _table(device, report)
    if without := [
        report.absent for report in reports if report.absent and report not in with_rows
    ]:
        st.caption(" ".join(without))


def _table(device: MemoryDevice, report: Report) -> None:
    frame = data.rows(report.query)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(report.note, width="content")
        menu.show({report.title.lower(): report.query}, f"{device.run}-{report.title.lower()}")
    key = f"{report.title.lower().replace(' ', '-')}-{device.key}"
    tables.show(
        frame.head(MAX_ROWS), report.view, key=key, hidden=report.hidden, labels=report.labels
    )
    if len(frame) > MAX_ROWS:
        st.caption(
            f"The first {MAX_ROWS:,} of {len(frame):,} rows are shown. Downloads and SQL have all."
        )


def _of_snapshots(device: MemoryDevice) -> list[Report]:
    where = device.where()
    fragments = [
        Report(
            title,
            "fragmentation",
            select(columns, "fragmentation", {**where, "level": level}, order_by="bytes DESC, 1"),
            "The state when the snapshot was taken. Stranded memory is unused, but its segment "
            "also holds allocations, so it cannot be released to the device.",
            "",
            labels={**FRAGMENT_LABELS, "segment_id": "segment"},
        )
        for title, level, columns in (
            ("Fragmentation by pool", "pool", f"pool, {FRAGMENTS}"),
            ("By segment", "segment", f"segment_id, pool, {FRAGMENTS.removeprefix('segments, ')}"),
        )
    ]
    settings = Report(
        "Allocator settings",
        "allocator_settings",
        select(
            "setting, value",
            "allocator_settings",
            {"run_id": device.run, "source_id": device.source},
            order_by="setting",
        ),
        "Settings recorded in the snapshot. `PYTORCH_CUDA_ALLOC_CONF` changes them.",
        "The snapshot has no allocator settings. PyTorch 2.3 and later write them.",
    )
    return [*fragments, settings]


def _leaks(device: MemoryDevice) -> Report:
    return Report(
        "Leaks",
        "leaks",
        select(
            "user_frame, is_growing, bytes, allocations, bytes_a_step, steps, steps_in_all, "
            "first_step, last_step",
            "leaks",
            device.where(),
            order_by="is_growing DESC, bytes DESC, user_frame",
        ),
        "Memory that was allocated after the first step and not freed by the end. **grows** means "
        "that every step left memory behind.",
        _no_leaks(device),
        labels={
            "user_frame": "line of code",
            "is_growing": "grows",
            "bytes": "left",
            "bytes_a_step": "a step",
            "steps_in_all": "of steps",
        },
    )


def _no_leaks(device: MemoryDevice) -> str:
    """Return the reason why the list of leaks is empty."""
    if not device.has_history or not device.allocations:
        return ""
    steps = len(data.rows(select("step", "memory_steps", device.where(), limit=MIN_STEPS)))
    if steps < MIN_STEPS:
        found = formatting.counted(steps, "step") if steps else "no steps"
        return f"Leaks are unknown: it takes {MIN_STEPS} steps to see them. This run has {found}."
    return "No leaks: all memory that was allocated after the first step was freed by the end."


def _operators(device: MemoryDevice) -> Report:
    return Report(
        "Memory by operator",
        "memory_by_op",
        select(
            "op, calls, self_allocated_bytes, self_bytes, total_bytes",
            "memory_by_op",
            # Steps are annotations, but the profiler counts them as operators.
            {**device.where(), "starts_with(op, 'ProfilerStep#')": False},
            order_by="self_allocated_bytes DESC, op",
        ),
        "Memory that operators allocated, and how much was left when they ended, counted like the "
        "profiler's `key_averages()`. Below 0, an operator freed more than it allocated.",
        "No operator allocated memory.",
        labels={
            "self_allocated_bytes": "allocated",
            "self_bytes": "left",
            "total_bytes": "left, with callees",
        },
    )

"""Tables about a device's memory: fragmentation, leaks, operators, the allocator's settings."""

from dataclasses import dataclass, field

import streamlit as st

from dashboard import data
from dashboard.drawing import tables
from dashboard.memory.device_memory import MemoryDevice
from dashboard.query import Query, select
from dashboard.widgets import menu

MOST_ROWS = 1_000
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
    """A table in a tab: where its rows come from, and what to say where there are none."""

    title: str
    view: str
    query: Query
    note: str
    absent: str
    hidden: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)


def show(device: MemoryDevice) -> None:
    """A tab for each report that has rows, and a line for each other."""
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
        frame.head(MOST_ROWS), report.view, key=key, hidden=report.hidden, labels=report.labels
    )
    if len(frame) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(frame):,}; downloads and SQL have all.")


def _of_snapshots(device: MemoryDevice) -> list[Report]:
    where = device.where()
    fragments = [
        Report(
            title,
            "fragmentation",
            select(columns, "fragmentation", {**where, "level": level}, order_by="bytes DESC, 1"),
            "When the snapshot was taken. Stranded memory is unused, but lies beside allocations "
            "in the same segment, so that it cannot be given back to the device.",
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
        "As the snapshot says them; `PYTORCH_CUDA_ALLOC_CONF` changes them.",
        "The snapshot holds no allocator settings: PyTorch writes them from 2.3 on.",
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
        "Memory that was allocated after the first step and still there at the end. What **grows** "
        "was left by every step.",
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
    """Why there are no leaks to list."""
    if not device.has_history or not device.allocations:
        return ""
    if data.rows(select("step", "memory_steps", device.where(), limit=2)).shape[0] < 2:
        return "Leaks are what each step leaves behind: the recording marks no two steps."
    return "No leak is seen: nothing that was allocated after the first step was left at the end."


def _operators(device: MemoryDevice) -> Report:
    return Report(
        "Memory by operator",
        "memory_by_op",
        select(
            "op, calls, self_allocated_bytes, self_bytes, total_bytes",
            "memory_by_op",
            # Steps are annotations, and no operators; the profiler counts them among these.
            {**device.where(), "starts_with(op, 'ProfilerStep#')": False},
            order_by="self_allocated_bytes DESC, op",
        ),
        "What operators allocated, and what of it was left when they ended: as `key_averages()` of "
        "the profiler counts it. Below 0, an operator freed more than it allocated.",
        "No operator allocated memory.",
        labels={
            "self_allocated_bytes": "allocated",
            "self_bytes": "left by it",
            "total_bytes": "with those inside",
        },
    )

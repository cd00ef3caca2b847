"""The columns of the table of runs, and the choice of the columns to show."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard.drawing import formatting, tables

VIEW = "run_list"
LABELS = {
    "run_id": "run",
    "step_ns": "step time",
    "step_times_ns": "step times",
    "started_at": "started",
    "busy_percent": "busy %",
    "mfu_percent": "MFU",
    "tflop_per_s": "operations per second",
    "bandwidth_percent": "bandwidth used",
    "sources": "files",
    "events": "complete events",
    "started_utc_at": "started (UTC)",
    "ingested_at": "added (UTC)",
}
EXPRESSIONS = {"started_utc_at": "started_at AS started_utc_at"}  # the same value, drawn twice
SHOWN = (
    "name",
    "step_ns",
    "step_times_ns",
    "started_at",
    "model",
    "mode",
    "device_name",
    "busy_percent",
    "peak_bytes",
    "tags",
    "note",
    "problems",
    "recompiles",
)
OTHERS = (
    *("steps", "span_ns", "ranks", "devices", "sources", "events", "activities"),
    *("mfu_percent", "tflop_per_s", "bandwidth_percent"),
    *("started_utc_at", "ingested_at"),
)


def choose() -> list[str]:
    """Return the columns that the user chose in the menu. The URL keeps them."""
    by_label = {_label(column): column for column in (*SHOWN, *OTHERS)}
    with st.popover("Columns", icon=":material/view_column:"):
        chosen = st.multiselect(
            "Columns",
            list(by_label),
            [_label(column) for column in SHOWN],
            key="columns",
            bind="query-params",
            help="Columns without any value are hidden.",
        )
    return [by_label[label] for label in chosen]


def _label(column: str) -> str:
    return LABELS.get(column) or tables.label(column)


def uninformative(frame: pd.DataFrame) -> list[str]:
    """Return the columns to hide: empty ones, and the name if each run's id begins with it."""
    empty = [
        column
        for column in (*SHOWN, *OTHERS)
        if column in frame and all(map(_is_empty, frame[column]))
    ]
    repeated = "name" in frame and all(
        run_id.startswith(f"{name}-")
        for run_id, name in zip(frame["run_id"], frame["name"], strict=True)
    )
    return [*empty, *(["name"] if repeated and "name" not in empty else [])]


def _is_empty(value: Any) -> bool:
    """Return whether a cell is missing, an empty list, or a count of 0."""
    if formatting.missing(value):
        return True
    return not (len(value) if hasattr(value, "__len__") else value)

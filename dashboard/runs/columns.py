"""The columns of the table of runs: which there are, and which are shown."""

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
    "sources": "files",
    "events": "complete events",
    "started_utc_at": "started (UTC)",
    "ingested_at": "added (UTC)",
}
EXPRESSIONS = {"started_utc_at": "started_at AS started_utc_at"}  # a column that is drawn twice
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
    *("started_utc_at", "ingested_at"),
)


def choose() -> list[str]:
    """Which columns to show: chosen in a menu, and kept in the URL."""
    by_label = {_label(column): column for column in (*SHOWN, *OTHERS)}
    with st.popover("Columns", icon=":material/view_column:"):
        chosen = st.multiselect(
            "Columns",
            list(by_label),
            [_label(column) for column in SHOWN],
            key="columns",
            bind="query-params",
            help="A column without any value is left out.",
        )
    return [by_label[label] for label in chosen]


def _label(column: str) -> str:
    return LABELS.get(column) or tables.label(column)


def without_news(frame: pd.DataFrame) -> list[str]:
    """Columns that say nothing of any run: empty ones, and names that the ids repeat."""
    empty = [
        column
        for column in (*SHOWN, *OTHERS)
        if column in frame and all(map(_is_nothing, frame[column]))
    ]
    repeated = "name" in frame and all(
        run_id.startswith(f"{name}-")
        for run_id, name in zip(frame["run_id"], frame["name"], strict=True)
    )
    return [*empty, *(["name"] if repeated and "name" not in empty else [])]


def _is_nothing(value: Any) -> bool:
    """Whether a cell is missing, an empty list, or a count of 0."""
    if formatting.missing(value):
        return True
    return not (len(value) if hasattr(value, "__len__") else value)

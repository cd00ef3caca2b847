"""The table of runs: its query, its groups and its ticked rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.runs import columns
from dashboard.widgets import run_picker
from ingest.server import Query, Value, select

KEY = "runs_table"
SEARCHED = "concat_ws(' ', run_id, name, model, mode, device_name, tags, note)"
TAG = "tag "  # the prefix of a tag's key, in the list of groups and in the URL
PINS = "runs_pins"


@dataclass(frozen=True)
class Pins:
    """The runs at the top of the table: those that were picked when it was created.

    A tick changes only `picked`, so that no row moves away from the pointer.
    """

    query: Query
    picked: list[str]
    pinned: list[str]


def pick_group(tag_keys: Sequence[str]) -> str | None:
    """Return the SQL expression that the rows are grouped by, or None for no groups."""
    chosen = st.selectbox(
        "Group by",
        ["model", *(f"{TAG}{key}" for key in tag_keys)],
        index=None,
        key="group",
        bind="query-params",
        placeholder="nothing",
        width=140,
    )
    if chosen is None or chosen == "model":
        return chosen
    return f"tags[{ingest.literal(str(chosen).removeprefix(TAG))}]"


def query(
    chosen: Sequence[str], search: str, tag: tuple[str, str] | None, group: str | None
) -> Query:
    """Return the query for the matching runs, latest first. Runs of a group are adjacent."""
    listed = ["run_id", *(columns.EXPRESSIONS.get(each, each) for each in chosen if each != group)]
    if group:
        listed = [
            f'{group} AS "group"',
            f"count(*) OVER (PARTITION BY {group}) AS group_runs",
            f"median(step_ns) OVER (PARTITION BY {group}) AS group_step_ns",
            *listed,
        ]
    where: dict[str, Value] = {f"tags[{ingest.literal(tag[0])}]": tag[1]} if tag else {}
    return select(
        ", ".join(listed),
        columns.VIEW,
        where,
        containing=(SEARCHED, search),
        order_by=f'"group" NULLS LAST, {data.LATEST_FIRST}' if group else data.LATEST_FIRST,
    )


def show(frame: pd.DataFrame, picked: Sequence[str], query: Query) -> None:
    """Draw the rows of the query. The ticked rows are the runs picked in the sidebar.

    Runs that were picked before the table was created come first.
    """
    pins: Pins | None = st.session_state.get(PINS)
    now = (query, list(picked))
    if pins is None or st.session_state["is_new_page"] or (pins.query, pins.picked) != now:
        pins = st.session_state[PINS] = Pins(*now, pinned=list(picked))
    is_pinned = frame["run_id"].isin(pins.pinned)
    frame = pd.concat([frame[is_pinned], frame[~is_pinned]], ignore_index=True)
    shown = list(frame["run_id"])

    def pick(rows: list[int]) -> None:
        ticked = [shown[row] for row in rows]
        elsewhere = [run for run in st.session_state[run_picker.RUN_KEY] if run not in shown]
        st.session_state[run_picker.RUN_KEY] = elsewhere + ticked
        st.session_state[PINS] = replace(pins, picked=elsewhere + ticked)

    frame = _with_group(frame)
    if "tags" in frame:
        frame = frame.assign(
            tags=[[f"{k}={v}" for k, v in (tags or {}).items()] for tags in frame.tags]
        )
    tables.show(
        frame,
        columns.VIEW,
        key=KEY,
        ids=shown,
        select="multi-row",
        selected=[row for row, run in enumerate(shown) if run in picked],
        on_select=pick,
        hidden=columns.uninformative(frame),
        labels=columns.LABELS,
        bars=["busy_percent"],
        sparklines=["step_times_ns"],
        ages=["started_at"],
        rest_px=330,
    )


def _with_group(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the group's name, its number of runs and its median step time."""
    if "group" not in frame:
        return frame
    groups = [
        f"{'none' if formatting.missing(group) else formatting.clipped(group, 30)} · "
        f"{formatting.counted(int(runs), 'run')} · {_median(step_ns)}"
        for group, runs, step_ns in zip(
            frame["group"], frame["group_runs"], frame["group_step_ns"], strict=True
        )
    ]
    return frame.assign(group=groups).drop(columns=["group_runs", "group_step_ns"])


def _median(step_ns: float) -> str:
    return "no steps" if formatting.missing(step_ns) else f"median {formatting.duration(step_ns)}"

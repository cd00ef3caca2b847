"""Each device's time divided into parts, and the query for idle time by cause."""

from typing import Any

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import Query, select

MAX_DEVICES = 24
MAX_ROWS = 1_000
STACK = "parts"


def show(view: View) -> None:
    """Draw a bar for each device of the run in the steps, or of all runs in whole recordings."""
    is_whole = view.steps.is_whole
    options: dict[str, Any] = {"order_by": "run_id, rank, device, part", "limit": MAX_ROWS}
    if is_whole:
        query = select(
            "run_id, rank, device, part, part_ns, percent",
            "device_split",
            {"run_id": view.runs},
            **options,
        )
    else:
        query = select(
            f"{ingest.literal(view.run)} AS run_id, rank, device, part, part_ns, percent",
            "device_split_of_steps",
            arguments=(view.run, *view.steps.bounds),
            **options,
        )
    menu.heading("Devices", {"split": query}, "split", files=view.files)
    frame = data.rows(query)
    charts.legend_of(set(frame["part"]))
    devices = _stacked(frame)
    shown = devices.head(MAX_DEVICES)
    of = "span" if is_whole else f"wall time in {view.steps.label}"
    several = is_whole and len(view.runs) > 1
    tables.show(
        shown,
        "device_split",
        key=f"devices-{view.key}",
        hidden=[] if several else ["run_id"],
        labels={"run_id": "run", STACK: f"parts of the device's {of}"},
        stacks=[STACK],
    )
    if len(devices) > len(shown):
        st.caption(f"The first {MAX_DEVICES} devices are shown.")


def _stacked(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each device, with its parts in one column in stacking order."""
    frame = frame.assign(order=frame["part"].map(colours.place)).sort_values("order")
    keys = ["run_id", "rank", "device"]
    rows = [
        {**dict(zip(keys, key, strict=True)), STACK: [_part(part) for part in parts.itertuples()]}
        for key, parts in frame.groupby(keys, dropna=False)
    ]
    return pd.DataFrame(rows, columns=[*keys, STACK])


def _part(row: Any) -> tuple[float, str, str]:
    share = formatting.percent(row.percent)
    text = f"{colours.label(row.part)}: {formatting.duration(row.part_ns)}, {share}"
    return float(row.percent), colours.of(row.part), text


def causes(view: View) -> Query:
    """Return the query for idle time of the steps by cause, longest first.

    The columns are the same as in `bubble_causes`. The causes in a step add up to its idle time. In
    a whole recording with a device, complete gaps count.
    """
    columns = "cause, percent, idle_ns, bubbles"
    order = "idle_ns DESC, cause"
    if view.steps.is_whole and not view.is_host:
        return select(columns, "bubble_causes", view.where(), order_by=order)
    return select(
        columns,
        "bubble_causes_of_steps",
        view.of_device(),
        arguments=(view.run, *view.steps.bounds),
        order_by=order,
    )

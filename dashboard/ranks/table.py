"""The table of ranks: what each did in a step, and its memory peak. A click opens its timeline."""

import pandas as pd
import streamlit as st

from dashboard.drawing import formatting, tables
from dashboard.widgets import menu, run_picker, timeline_link
from dashboard.widgets.view import View
from ingest.server import Section

MAX_ROWS = 2_000


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a `label`: the rank, and the device if the rank has several."""
    several = frame.groupby("rank")["device_id"].transform("nunique") > 1
    labels = [
        f"rank {rank} device {device}" if is_one else f"rank {rank}"
        for rank, device, is_one in zip(frame["rank"], frame["device"], several, strict=True)
    ]
    return frame.assign(label=labels)


def open_timeline(run: str, row: pd.Series) -> None:
    """Open page Timeline at the step in which a device of a rank came latest."""
    step = None if formatting.missing(row["latest_step"]) else int(row["latest_step"])
    for device in run_picker.metrics_of(run):
        if device.rank == row["rank"] and device.device in (None, row["device"]):
            timeline_link.open_step(run, device, step)
            return


def show(view: View, section: Section, frame: pd.DataFrame) -> None:
    """Draw the table, the latest rank first."""
    menu.heading(
        section.title,
        {"ranks": section.query},
        "ranks",
        help="Times of a step, on average over the steps. The rank that comes latest to its "
        "collectives is first.",
        files=view.files,
    )
    unknown = frame["lateness_ns"].isna().all()
    several = frame["label"].str.contains("device").any()
    tables.show(
        frame.head(MAX_ROWS).rename(columns={"latest_step": "step"})[
            [
                *(["label"] if several else ["rank"]),
                *("host_name", "lateness_ns", "last_percent", "cost_ns", "compute_ns"),
                *("waiting_ns", "transfer_ns", "unmatched_ns", "exposed_communication_ns"),
                *("idle_ns", "wall_ns", "peak_bytes"),
                *([] if unknown else ["step"]),
            ]
        ],
        [section.view, "stragglers"],
        key=f"ranks-{view.key}",
        labels={**section.labels, "label": "rank"},
        select="single-row",
        on_select=lambda rows: open_timeline(str(view.run), frame.iloc[rows[0]]) if rows else None,
    )
    notes = ["Times of a step, on average over all steps."] if view.steps.is_whole else []
    where = "" if unknown else " the step in which it came latest"
    notes.append(f"Click a rank to see{where or ' it'} in the timeline.")
    if len(frame) > MAX_ROWS:
        notes.append(f"The first {MAX_ROWS:,} of {len(frame):,} rows. The menu has all of them.")
    if frame["peak_bytes"].isna().all():
        notes.append("No memory was recorded.")
    st.caption(" ".join(notes))

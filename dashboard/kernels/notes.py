"""What the page cannot show, and why."""

import pandas as pd
import streamlit as st

from dashboard.widgets.view import View
from ingest.server import reports


def of_table(view: View, frame: pd.DataFrame, most: int) -> None:
    """Explain the shares, the cut, and the columns that are left out."""
    notes = [f"Shares are of the time of all kernels in {of_steps(view)}."]
    if len(frame) > most:
        notes.append(f"The first {most:,} of {len(frame):,} rows. The menu has all of them.")
    if (frame["level"] == "operator").any():
        notes.append(
            "If an operator launches several kernels, *% of peak* and *% of bandwidth* are the "
            "operator's."
        )
    if (frame["peak_percent"] > 100).any() or (frame["bandwidth_percent"] > 100).any():
        notes.append(
            "More than 100%: the kernel does less work than its operator's formula says, or reads "
            "from a cache."
        )
    notes.extend(_left_out(frame))
    st.caption(" ".join(notes))


def of_steps(view: View) -> str:
    """Return the steps as a text. The whole recording has kernels of its measured steps only."""
    return "the measured steps" if view.steps.is_whole else view.steps.label


def _left_out(frame: pd.DataFrame) -> list[str]:
    """Return why columns of the table are left out."""
    left_out = []
    if frame["grid"].isna().all():
        left_out.append("The trace does not have the grids of kernels.")
    if frame["registers"].isna().all():
        left_out.append(
            "The trace does not have registers and shared memory, as on AMD, so waves are unknown."
        )
    elif frame["waves"].isna().all():
        left_out.append(
            "Waves are unknown: the trace does not describe the device, or its compute capability "
            "is new."
        )
    if frame["occupancy_percent"].isna().all():
        left_out.append("The trace does not have estimates of the occupancy.")
    if frame["level"].isna().all():
        left_out.append(f"No operator has known work. {reports.efficiency.HOW_TO_RECORD_WORK}")
    return left_out

"""What the page cannot show, and why."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.kernels.shape import of_device
from dashboard.widgets.view import View
from ingest.server import reports


def unknown_device(view: View) -> None:
    """Say how to give the peaks of a device whose peaks are unknown."""
    where = {"run_id": view.run, **of_device(view)}
    (limits,) = data.rows(reports.kernels.limits(where)).itertuples()
    if not formatting.missing(limits.tb_per_s) or not data.rows(reports.kernels.peaks(where)).empty:
        return
    known = not formatting.missing(limits.device_name)
    name = f" ({formatting.literal(limits.device_name)})" if known else ""
    several = ", ".join(formatting.literal(model) for model in limits.models)
    which = f" It may be one of these: {several}." if several else ""
    st.info(
        f"The peaks of this device{name} are unknown, so shares of the peak and of the bandwidth "
        f"are unknown, too.{which} Give them in 10¹² operations and bytes per second, or record "
        "with `capture calibrate` on such a device.",
        icon=":material/speed:",
    )
    st.code(
        f"ingest edit {view.run} --tag peak_bfloat16=989 --tag peak_bandwidth=3.35",
        language="bash",
    )


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
        left_out.append(
            "No operator has known work: the trace lacks the shapes of inputs. Record with "
            "`record_shapes=True`."
        )
    return left_out

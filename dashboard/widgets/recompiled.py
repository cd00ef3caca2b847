"""A warning about runs in which torch.compile recompiled code during the measurement."""

from collections.abc import Sequence

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from ingest.server import reports

MAX_NAMED = 3
MAX_REASON_LENGTH = 300  # characters of a reason


def warn(runs: Sequence[str]) -> None:
    """Show one warning for all runs that recompiled while they were measured, with the reasons."""
    frame = data.rows(reports.runs.recompiles(runs))
    sentences = [
        f"**{formatting.literal(row.run_id)}** recompiled "
        f"{formatting.counted(row.recompiles, 'time')} while it was measured, in "
        f"{formatting.duration(row.dur_ns)}{_because(list(row.reasons))}."
        for row in frame.head(MAX_NAMED).itertuples()
    ]
    if len(frame) > MAX_NAMED:
        others = formatting.counted(len(frame) - MAX_NAMED, "other run")
        sentences.append(f"{others} recompiled too.")
    if sentences:
        st.warning("  \n".join(sentences), icon=":material/restart_alt:")


def _because(reasons: list[str]) -> str:
    """Return the reason that took the most time, and the number of other reasons."""
    if not reasons:
        return ""
    more = f", and {formatting.counted(len(reasons) - 1, 'other reason')}" if reasons[1:] else ""
    return f": {formatting.literal(formatting.clipped(reasons[0], MAX_REASON_LENGTH))}{more}"

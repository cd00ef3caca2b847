"""The top line of page Roofline: utilisation, rates, known work, and where the peaks come from."""

from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import efficiency
from dashboard.widgets.view import View
from ingest.server import reports


def limits_of(view: View) -> Any:
    """Return the row of `device_limits` about the view's device, or None."""
    return next(data.rows(reports.efficiency.limits(view.where())).itertuples(), None)


def show(view: View, limits: Any) -> None:
    """Show the utilisation of the median step, and say which peaks are used."""
    efficiency.show(view)
    if limits is not None and not efficiency.note_unknown_peaks(limits):
        sources = reports.efficiency.sources_of(limits._asdict())
        st.caption(f"Peaks from {sources}.{_measured(limits)}")


def _measured(limits: Any) -> str:
    if formatting.missing(limits.measured_tb_per_s) or limits.tb_per_s_from == "calibration":
        return ""
    return (
        f" Dashed lines are what `capture calibrate` measured: a copy of "
        f"{formatting.bandwidth(limits.measured_tb_per_s)}."
    )

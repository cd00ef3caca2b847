"""The top line of page Roofline: utilisation, rates, known work, and where the peaks come from."""

from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import efficiency
from dashboard.widgets.stages import Stage
from dashboard.widgets.view import View
from ingest.server import reports


def limits_of(view: View) -> Any:
    """Return the row of `device_limits` about the view's device, or None."""
    return next(data.rows(reports.efficiency.limits(view.where())).itertuples(), None)


def show(view: View, limits: Any, stage: Stage | None) -> None:
    """Show the utilisation of the median step, or of a stage, and say which peaks are used."""
    if stage:
        efficiency.show_stage(view, stage.name)
    else:
        efficiency.show(view)
    if limits is not None and not efficiency.note_unknown_peaks(limits):
        sources = reports.efficiency.sources_of(limits._asdict())
        st.caption(f"Peaks from {sources}.{_measured(limits)}")


def _measured(limits: Any) -> str:
    texts = []
    if not formatting.missing(limits.measured_tb_per_s) and limits.tb_per_s_from != "calibration":
        texts.append(
            " Dashed lines are what `capture calibrate` measured: a copy of "
            f"{formatting.bandwidth(limits.measured_tb_per_s)}."
        )
    if limits.model_reason != "host" and not formatting.missing(limits.measured_launch_ns):
        launch = formatting.duration(limits.measured_launch_ns)
        texts.append(
            f" Launching an operator took {launch} there: operators with less device time cannot "
            "keep the device busy."
        )
    return "".join(texts)

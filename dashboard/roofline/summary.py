"""The top line of page Roofline: utilisation, rates, known work, and where the peaks come from."""

from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import efficiency
from dashboard.widgets.stages import Stage
from dashboard.widgets.view import View
from ingest.server import reports

# Why a device is of no model, by `device_limits.model_reason`.
REASONS = {
    "no_properties": "the trace does not describe the device",
    "no_model": "table device_models has no such device",
    "several_models": "several models fit",
    "host": "a host has no datasheet",
}


def limits_of(view: View) -> Any:
    """Return the row of `device_limits` about the view's device, or None."""
    return next(data.rows(reports.efficiency.limits(view.where())).itertuples(), None)


def show(view: View, limits: Any, stage: Stage | None) -> None:
    """Show the utilisation of the median step, or of a stage, and say which peaks are used."""
    if stage:
        efficiency.show_stage(view, stage.name)
    else:
        efficiency.show(view)
    if limits is not None:
        _source(limits)


def _source(limits: Any) -> None:
    """Say which peaks are used."""
    if sources := reports.efficiency.sources_of(limits._asdict()):
        st.caption(f"Peaks from {sources}.{_measured(limits)}")
    else:
        reason = REASONS[limits.model_reason]
        name = (
            ""
            if formatting.missing(limits.device_name)
            else f" of {formatting.literal(limits.device_name)}"
        )
        st.warning(
            f"The peaks{name} are unknown: {reason}. Give them to the run with `ingest edit RUN "
            "--tag peak_bfloat16=989 --tag peak_bandwidth=3.35` (10¹² per second), or record runs "
            "beside a calibration (`capture calibrate`).",
            icon=":material/speed:",
        )


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

"""How close the median step or a stage comes to the limits of its device, as metrics of a page."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets.view import View
from ingest.server import reports

HELP = {
    "mfu": "Model FLOP utilisation: the time that products, convolutions and attention take at the "
    "peaks of their types, as a share of the wall time of the median step.",
    "rate": "Floating-point operations of operators with known work by wall time of the median "
    "step.",
    "bandwidth": "Bytes that these operators read and write by wall time of the median step.",
    "known": "Share of the device time, without communication, of operators whose work is known. "
    "Table work_coverage says why the rest is not.",
}

WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "mfu_percent": formatting.percent,
    "tflop_per_s": formatting.operation_rate,
    "tb_per_s": formatting.bandwidth,
}


def known(percent: float | None) -> str:
    """Return the sentence that says how much of the work is known."""
    return (
        f"Of the device time, {formatting.percent(percent)} belongs to operators with known work."
    )


def show(view: View) -> None:
    """Show utilisation, rates, and the share of known work of the median step."""
    for row in data.rows(reports.efficiency.totals(view.where())).itertuples():
        _metrics(row, "median step")


def show_stage(view: View, stage: str) -> None:
    """Show the same of a stage of each pipeline, in its call of median time."""
    for row in data.rows(reports.efficiency.stage_totals(view.where(), stage)).itertuples():
        _metrics(row, "stage")
        st.caption(
            f"Stage {stage} of {formatting.literal(row.pipeline)}, in the call with the median "
            f"time: {formatting.duration(row.wall_ns)}."
        )


def _metrics(row: Any, of: str) -> None:
    """Show the metrics of a row of `run_efficiency` or `stage_efficiency`."""

    def explained(metric: str) -> str:
        return HELP[metric].replace("median step", of)

    reason = row.unknown_reason
    why = (
        ""
        if formatting.missing(reason)
        else f" It is unknown: {reports.efficiency.UNKNOWN[str(reason)]}."
    )
    with st.container(horizontal=True):
        st.metric("MFU", _written(row, "mfu_percent"), help=explained("mfu") + why)
        st.metric("Rate", _written(row, "tflop_per_s"), help=explained("rate"))
        used = _written(row, "tb_per_s")
        if not formatting.missing(row.bandwidth_percent):
            used += f" ({formatting.percent(row.bandwidth_percent)})"
        st.metric("Memory traffic", used, help=explained("bandwidth"))
        st.metric("Known work", formatting.percent(row.known_percent), help=HELP["known"])


def _written(row: Any, metric: str) -> str:
    """Return a utilisation or rate as a text that shows whether it is a lower bound."""
    value = getattr(row, metric)
    text = WRITTEN[metric](value)
    return f"≥ {text}" if row.is_lower_bound and not formatting.missing(value) else text


def show_mfu(view: View) -> None:
    """Show the utilisation if it is known."""
    for row in data.rows(reports.efficiency.totals(view.where())).itertuples():
        if not formatting.missing(row.mfu_percent):
            help = f"{HELP['mfu']} {known(row.known_percent)}"
            st.metric("MFU", _written(row, "mfu_percent"), help=help)


def note_unknown_peaks(limits: Any) -> bool:
    """Say why the peaks of a device are unknown, and what helps. Return whether they are.

    `limits` is a row of `reports.efficiency.limits`.
    """
    row = limits._asdict()
    if reports.efficiency.sources_of(row):
        return False
    name = None if formatting.missing(row["device_name"]) else row["device_name"]
    named = {**row, "device_name": name and formatting.literal(name)}
    st.warning(reports.efficiency.peaks_of(named), icon=":material/speed:")
    return True

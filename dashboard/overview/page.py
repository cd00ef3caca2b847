"""Page Overview: what a run is, how long its steps take, and where the time goes."""

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.overview import facts, stages, tensorboard, top
from dashboard.widgets import (
    critical_path,
    efficiency,
    incomplete_runs,
    metrics,
    step_parts,
    step_picker,
)
from dashboard.widgets.run_picker import Device
from dashboard.widgets.view import View
from ingest.server import select


def page(view: View) -> None:
    """Draw the page."""
    run = str(view.run)
    facts.show(run)
    if view.device is None:
        _without_activity(run)
        return
    _metrics(view)
    _details(view, view.device)


def _details(view: View, device: Device) -> None:
    """Show the steps, the parts of their time, the top operators, and advice."""
    left, right = st.container(key="beside-steps").columns([3, 2], gap="medium")
    with left:
        step_picker.bars(str(view.run), device, view.steps, is_tall=True)
    with right:
        step_parts.show(view)
        tensorboard.show(view)
    stages.show(view)
    critical_path.over_time(view)
    if view.is_host:
        operators, advice = st.columns(2, gap="medium")
        with operators:
            top.host_operators(view)
    else:
        kernels, operators, advice = st.container(key="three-top").columns(3, gap="medium")
        with kernels:
            top.of_device(view, "kernel", "Kernels")
        with operators:
            top.of_device(view, "op", "Operators")
    with advice:
        top.advice(view, device)


def _without_activity(run: str) -> None:
    """Show a run that has snapshots only, or a trace without operators and kernels."""
    (row,) = data.rows(select("*", "run_overview", {"run_id": run})).itertuples()
    if not formatting.missing(row.peak_bytes):
        st.metric("Peak memory", formatting.size(row.peak_bytes))
    incomplete_runs.no_activity(run)


def _metrics(view: View) -> None:
    """Show the times of the steps, and their kernels, peak memory and recompilations."""
    row = metrics.of_steps(view)
    peak = "Peak memory of the host" if view.is_host else "Peak memory"
    with st.container(horizontal=True):
        metrics.wall(view, row)
        metrics.busy_and_idle(row, view.is_host)
        for label, value, format_value, help in (
            ("Kernels", row.kernels, formatting.count, metrics.HELP["kernels"]),
            (peak, row.peak_bytes, formatting.size, metrics.HELP["peak"]),
            ("Recompilations", row.recompiles, formatting.count, metrics.HELP["recompiles"]),
        ):
            if not formatting.missing(value):
                st.metric(label, format_value(value), help=help)
        if view.is_median:
            efficiency.show_mfu(view)

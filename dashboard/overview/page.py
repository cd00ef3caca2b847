"""Page Overview: what a run is, how long a step takes and what for, on one screen."""

from typing import Any

import streamlit as st

from dashboard import data
from dashboard.overview import facts, parts, top
from dashboard.query import select
from dashboard.widgets import (
    formatting,
    incomplete_runs,
    median_step,
    metrics,
    recompiled,
    run_picker,
    show_sql,
    step_picker,
)
from dashboard.widgets.run_picker import Device
from dashboard.widgets.step_picker import Steps


def page() -> None:
    """The page."""
    picked: list[str] = st.session_state["runs"]
    if not picked:
        st.title("Overview")
        run_picker.question("What does a step take, and what for?", picked)
        run_picker.ask_for_runs()
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = picked[0]
        st.markdown(f"#### {'Overview' if len(picked) > 1 else formatting.literal(run)}")
        if len(picked) > 1:
            run = str(st.selectbox("Run", picked, key="of", bind="query-params", width=420))
        devices = run_picker.measured_devices(run)
        device = run_picker.pick_device(devices, with_all=False) if devices else None
        measured = _measured(run, device) if device else None
        steps = step_picker.pick(device, measured) if device else step_picker.WHOLE
    facts.show(run)
    incomplete_runs.warn([run])
    recompiled.warn([run])
    if device is None or measured is None:
        _without_activity(run)
        return
    _metrics(measured)
    _details(run, device, steps, on_device=measured.measure == "device")


def _details(run: str, device: Device, steps: Steps, on_device: bool) -> None:
    """The steps, what their time goes into, and what to do about it; each with its SQL."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Steps**")
        drawn = step_picker.bars(run, device)
        if drawn is None:
            st.caption("No steps were found: the whole recording counts as one.")
    with right:
        st.markdown(f"**Where the time goes** · {steps.label}")
        split = parts.show(run, device, steps)
    columns = st.columns(3 if on_device else 2, gap="medium")
    shown = {"split": split} if drawn is None else {"steps": drawn, "split": split}
    if on_device:
        with columns[0]:
            shown["kernels"] = top.kernels(run, device, steps)
        with columns[1]:
            shown["operators"] = top.operators(run, device, steps)
    else:
        with columns[0]:
            shown["operators"] = top.host_operators(run, device, steps)
    with columns[-1]:
        shown["advice"] = top.advice(run, device)
    with st.container(horizontal=True):
        for what, query in shown.items():
            show_sql.show(query, what)


def _measured(run: str, device: Device) -> Any:
    """The row of `run_metrics` of a device."""
    (row,) = data.rows(select("*", "run_metrics", {"run_id": run, **device.where()})).itertuples()
    return row


def _without_activity(run: str) -> None:
    """A run of snapshots alone, or of a trace without any operator or kernel."""
    (row,) = data.rows(select("*", "run_overview", {"run_id": run})).itertuples()
    if not formatting.missing(row.peak_bytes):
        st.metric("Peak memory", formatting.size(row.peak_bytes))
    incomplete_runs.stop_without_trace([run])
    st.info("No activity was recorded in this run.", icon=":material/search_off:")


def _metrics(row: Any) -> None:
    """What a step takes; `row` is one of `run_metrics`."""

    def share(ns: float) -> str:
        return f"{formatting.percent(100 * ns / row.wall_ns)} of it" if row.wall_ns else ""

    with st.container(horizontal=True):
        spread = None
        if row.steps > 1:
            times = map(formatting.duration, (row.q1_wall_ns, row.q3_wall_ns))
            spread = f"half of {int(row.steps)}: {' to '.join(times)}"
        st.metric(
            median_step.name(row.steps_from).removeprefix("the ").capitalize(),
            formatting.duration(row.wall_ns),
            spread,
            delta_color="off",
            delta_arrow="off",
            help=f"Wall time: {median_step.described(row)}.",
        )
        on_device = row.measure == "device"
        metrics.with_share(
            "Device busy" if on_device else "Operators", row.busy_ns, share(row.busy_ns)
        )
        metrics.with_share("Idle", row.bubble_ns, share(row.bubble_ns))
        if on_device and not formatting.missing(row.kernels):
            st.metric("Kernels", formatting.count(row.kernels))
        if not formatting.missing(row.peak_bytes):
            st.metric("Peak memory", formatting.size(row.peak_bytes))
        if not formatting.missing(row.recompiles):
            st.metric(
                "Recompilations",
                formatting.count(row.recompiles),
                help="In the measured steps.",
            )

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
        if len(picked) > 1:
            run = str(st.selectbox("Run", picked, key="of", bind="query-params", width=420))
        else:
            st.markdown(f"#### {formatting.literal(run)}")
        measured = data.rows(
            select("*", "run_metrics", {"run_id": run}, order_by="is_slowest DESC, rank, device")
        )
        device = _device(measured)
        chosen = _of(measured, device) if device else None
        steps = step_picker.pick(chosen) if chosen else None
    facts.show(run)
    incomplete_runs.warn([run])
    recompiled.warn([run])
    if device is None or chosen is None or steps is None:
        _without_trace(run)
        return
    _metrics(run, device, chosen)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Steps**")
        drawn = step_picker.bars(run, device)
        if drawn is None:
            st.caption("No steps were found: the whole recording counts as one.")
    with right:
        st.markdown(f"**Where the time goes** · {steps.label}")
        split = parts.show(run, device, steps)
    columns = st.columns(3 if chosen.measure == "device" else 2, gap="medium")
    shown = {"split": split} if drawn is None else {"steps": drawn, "split": split}
    if chosen.measure == "device":
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


def _device(measured: Any) -> Device | None:
    """The device to look at: at first the slowest; the host where there is none."""
    devices = [
        Device(int(rank), None if formatting.missing(device) else int(device))
        for rank, device in measured[["rank", "device"]].itertuples(index=False)
    ]
    return run_picker.pick_device(devices, with_all=False) if devices else None


def _of(measured: Any, device: Device) -> Any:
    """The row of `run_metrics` of a device."""
    for row in measured.itertuples():
        number = None if formatting.missing(row.device) else int(row.device)
        if (int(row.rank), number) == (device.rank, device.device):
            return row
    return None


def _without_trace(run: str) -> None:
    """A run of snapshots alone."""
    (row,) = data.rows(select("*", "run_overview", {"run_id": run})).itertuples()
    if not formatting.missing(row.peak_bytes):
        st.metric("Peak memory", formatting.size(row.peak_bytes))
    st.info("There is no trace here: the page Memory shows what was recorded.")
    st.page_link(st.session_state["pages"]["memory"], label="Memory", icon=":material/memory_alt:")


def _metrics(run: str, device: Device, row: Any) -> None:
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

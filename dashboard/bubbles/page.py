"""Page Bubbles: when and why a device idled."""

from collections.abc import Sequence

import streamlit as st

import ingest
from dashboard import data
from dashboard.bubbles import gaps
from dashboard.query import select
from dashboard.widgets import (
    formatting,
    incomplete_runs,
    metrics,
    recompiled,
    run_picker,
    show_sql,
    split,
    tables,
    timeline,
)
from dashboard.widgets.run_picker import Device


def page() -> None:
    """The page."""
    st.title("Bubbles")
    picked: list[str] = st.session_state["runs"]
    run_picker.question("When was the device idle, and why?", picked)
    if not picked:
        run_picker.ask_for_runs()
        return
    incomplete_runs.warn(picked)
    recompiled.warn(picked)
    if not run_picker.devices_of(picked):
        incomplete_runs.stop_without_trace(picked)
        st.info(
            f"{incomplete_runs.no_device(picked)} The page Operators ranks the host's own time.",
            icon=":material/memory:",
        )
        return
    run, device = _controls(picked)
    if device is None:
        st.info(incomplete_runs.no_device([run]), icon=":material/memory:")
    else:
        _metrics(run, device)
    split.show(picked)
    if device is None:
        return
    timeline.show(run, device)
    cause = _causes(run, device)
    gaps.show(run, device, cause)


def _controls(picked: Sequence[str]) -> tuple[str, Device | None]:
    """The run and the device to look at; at first a run that has one."""
    query = select("DISTINCT run_id", "device_totals", {"run_id": picked})
    with_device = set(data.rows(query)["run_id"])
    first = next((place for place, run in enumerate(picked) if run in with_device), 0)
    with st.container(horizontal=True):
        run = picked[first]
        if len(picked) > 1:
            run = str(st.selectbox("Run", picked, first, key="of", bind="query-params", width=420))
        devices = run_picker.devices_of([run])
        return run, run_picker.pick_device(devices, with_all=False) if devices else None


def _metrics(run: str, device: Device) -> None:
    where = {"run_id": run, **device.where()}
    (total,) = data.rows(select("*", "device_totals", where)).itertuples()
    causes = data.rows(select("*", "bubble_causes", where, order_by="bubble_ns DESC", limit=1))
    with st.container(horizontal=True):
        metrics.times(total)
        st.metric("Gaps", formatting.count(total.bubbles))
        for cause in causes.itertuples():
            share = f"{formatting.percent(cause.percent)} of the bubble"
            metrics.with_share(f"Mostly: {cause.cause}", cause.bubble_ns, share)


def _causes(run: str, device: Device) -> str | None:
    """The causes by lost time; the one ticked."""
    st.subheader("Causes", anchor=False)
    query = select(
        "cause, bubble_ns, percent, bubbles",
        "bubble_causes",
        {"run_id": run, **device.where()},
        order_by="bubble_ns DESC",
    )
    frame = data.rows(query)
    if frame.empty:
        st.success("There is no gap: the device was busy all the time.", icon=":material/check:")
        return None
    left, right = st.columns([2, 3], gap="medium")
    with left:
        split.cause_bars(frame)
        show_sql.show(query, "causes")
    names = list(frame["cause"])
    asked = st.query_params.get("cause")
    with right:
        rows = tables.show(
            frame,
            "bubble_causes",
            key=f"causes-{run}-{device.label}",
            select="single-row",
            selected=[names.index(asked)] if asked in names else [],
        )
        st.caption(_meaning(names[rows[0]]) if rows else "Tick a cause to see its gaps only.")
    chosen = names[rows[0]] if rows else None
    run_picker.remember("cause", chosen)
    return chosen


def _meaning(cause: str) -> str:
    part = next(part for part in ingest.parts() if part.name == cause)
    return f"**{part.name}**: {part.text}" + (f" {part.remedy}" if part.remedy else "")

"""The moment whose memory state the page shows. The URL sets it; the default is the peak."""

from dataclasses import dataclass

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import step_picker, timeline_link
from dashboard.widgets.step_picker import Steps
from ingest.server import DeviceMemory, select

KEY = "at"
MAX_OOMS = 8  # maximum number of out-of-memory errors that get a button


@dataclass(frozen=True)
class Moment:
    """The state after the action with this ordinal; -1 is the start."""

    ordinal: int
    time_ns: int | None
    used_bytes: int
    reserved_bytes: int | None


def moment_of(device: DeviceMemory, steps: Steps) -> Moment:
    """Return the moment in the URL if it exists on the device, else the peak within the steps."""
    try:
        ordinal = int(st.query_params[KEY])
    except (KeyError, ValueError):
        ordinal = -2
    if not -1 <= ordinal < max(device.actions, 1):
        ordinal = _peak_in(device, steps)
    query = select(
        "time_ns, used_bytes, reserved_bytes",
        "memory_timeline",
        {**device.where(), "ordinal": ordinal},
    )
    row = data.rows(query).iloc[0]
    time, used, reserved = (None if formatting.missing(value) else int(value) for value in row)
    return Moment(ordinal, time, used or 0, reserved)


def recorded_steps(device: DeviceMemory, steps: Steps) -> Steps:
    """Return the steps if the device recorded memory in them.

    Otherwise show a notice and return the whole recording. Steps between two calls of an optimizer
    do not count, because they are numbered differently.
    """
    if steps.is_whole:
        return steps
    where = {**device.where(), **steps.where(), "origin <>": "optimizer"}
    if len(data.rows(select("step", "memory_steps", where, limit=1))):
        return steps
    st.caption(f"No memory was recorded for {steps.label}. The page shows the whole history.")
    return step_picker.WHOLE


def _peak_in(device: DeviceMemory, steps: Steps) -> int:
    """Return the ordinal of the peak within the steps, or of the overall peak if they have none."""
    if steps.is_whole:
        return device.peak_ordinal
    where = {key: value for key, value in device.where().items() if key != "run_id"}
    query = select(
        "ordinal", "memory_moments_of_steps", where, arguments=(device.run_id, *steps.bounds)
    )
    return next(map(int, data.rows(query)["ordinal"]), device.peak_ordinal)


def choose(ordinal: int) -> None:
    """Set the moment in the URL."""
    st.query_params[KEY] = str(ordinal)


def name(device: DeviceMemory, moment: Moment) -> str:
    """Return the name of the moment in headings, for example "at the peak"."""
    if not device.has_history:
        return "when the snapshot was taken"
    known = end_or_peak(device, moment)
    if known != "peak" and moment.ordinal in out_of_memory(device):
        return "when memory ran out"
    if known:
        return f"at the {known}"
    if moment.time_ns is not None and device.first_ns is not None and device.span_ns:
        return f"{formatting.duration(moment.time_ns - device.first_ns)} after the first action"
    return f"after action {moment.ordinal:,}"


def end_or_peak(device: DeviceMemory, moment: Moment) -> str | None:
    """Return "start", "end" or "peak" if the moment is one of these."""
    names = {device.end_ordinal: "end", -1: "start", device.peak_ordinal: "peak"}
    return names.get(moment.ordinal)


def out_of_memory(device: DeviceMemory) -> list[int]:
    """Return the ordinals of the device's out-of-memory errors."""
    where = {**device.where(), "action": "oom"}
    query = select("ordinal", "memory_events", where, order_by="ordinal")
    return [int(ordinal) for ordinal in data.rows(query)["ordinal"]]


def buttons(device: DeviceMemory, moment: Moment) -> None:
    """Show buttons for notable moments, and a link to the timeline.

    The button of the current moment is disabled.
    """
    ooms = out_of_memory(device)[:MAX_OOMS]
    choices = {"Peak": (device.peak_ordinal, ":material/landscape:")}
    choices["Start"] = (-1, ":material/first_page:")
    choices["End"] = (device.end_ordinal, ":material/last_page:")
    for number, ordinal in enumerate(ooms, 1):
        # An error changes no memory, so the state at its ordinal is the state that caused it.
        label = "Out of memory" + (f" {number}" if len(ooms) > 1 else "")
        choices[label] = (ordinal, ":material/error:")
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, (ordinal, icon) in choices.items():
            st.button(
                label,
                icon=icon,
                key=f"moment-{label}-{device.key}",
                on_click=choose,
                args=(ordinal,),
                disabled=ordinal == moment.ordinal,
            )
        if moment.time_ns is not None:
            timeline_link.show({"run": device.run_id}, device.rank, moment.time_ns)

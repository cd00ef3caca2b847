"""The device whose memory the page shows, and its metrics."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import run_picker
from ingest import server
from ingest.server import DeviceMemory, reports, select

ORIGINS = {"snapshot": "snapshot", "trace": "profiler", "timeline": "memory timeline"}


def devices_of(runs: Sequence[str]) -> list[DeviceMemory]:
    """Return the devices with memory data, those with the most informative source first."""
    frame = data.rows(server.devices_of(runs))
    found = [
        DeviceMemory(**{str(name): _plain(value) for name, value in row.items()})
        for row in frame.to_dict("records")
    ]
    return sorted(found, key=_preference)


def _plain(value: Any) -> Any:
    """Return a cell as str, int or None."""
    if formatting.missing(value):
        return None
    return value if isinstance(value, str) else int(value)


def _preference(device: DeviceMemory) -> tuple[bool, int, int, int, str]:
    origin = list(ORIGINS).index(device.origin) if device.origin in ORIGINS else len(ORIGINS)
    return device.device_type == "cpu", origin, device.rank, -device.peak_bytes, device.label


def labels(devices: Sequence[DeviceMemory]) -> dict[str, DeviceMemory]:
    """Return the devices by label: rank and device, and if needed the kind of file and the file."""
    named: dict[str, DeviceMemory] = {}
    for device in devices:
        label = f"rank {device.rank} {device.label}"
        alike = [
            other for other in devices if (other.rank, other.label) == (device.rank, device.label)
        ]
        if len(alike) > 1:
            label += f", {ORIGINS.get(device.origin, device.origin)}"
        if sum(other.origin == device.origin for other in alike) > 1:
            label += f" of file {device.source_id}"
        named[label] = device
    return named


def pick(devices: Sequence[DeviceMemory]) -> DeviceMemory:
    """Return the picked device of a run. Show a picker only if there are several."""
    options = labels(devices)
    if len(options) == 1:
        return devices[0]
    rank_and_device = {label: (device.rank, device.device) for label, device in options.items()}
    run_picker.choose_by_short_url("memory", rank_and_device)
    chosen = st.selectbox(
        "Memory of",
        list(options),
        key="memory",
        bind="query-params",
        width=260,
        label_visibility="collapsed",
    )
    return options.get(str(chosen), devices[0])


def comparable(devices: Sequence[DeviceMemory]) -> dict[str, DeviceMemory]:
    """Return the device with the most informative source for each run that has memory data."""
    first: dict[str, DeviceMemory] = {}
    for device in devices:
        first.setdefault(device.run_id, device)
    return first


def warnings(device: DeviceMemory) -> list[tuple[str, str]]:
    """Return the code and text of each warning about the device's file.

    For a trace, return only warnings about memory.
    """
    query = select(
        "unnest(warning_codes) AS code, unnest(warnings) AS message",
        "sources",
        {"run_id": device.run_id, "source_id": device.source_id},
    )
    return [
        (str(row.code), str(row.message))
        for row in data.rows(query).itertuples()
        if device.origin != "trace" or str(row.code).startswith("memory_")
    ]


def metrics(device: DeviceMemory) -> None:
    """Show the peak, when it was reached, and the reserved, final and unused memory."""
    with st.container(horizontal=True):
        reserved = device.peak_reserved_bytes
        label = "Peak" if device.has_history else "In use"
        _metric(label, formatting.size(device.peak_bytes), _share(device))
        if device.has_history:
            _metric(*_when(device))
        if reserved is not None:
            label = "Reserved at most" if device.has_history else "Reserved"
            _metric(label, formatting.size(reserved), None)
        if device.has_history:
            _metric("At the end", formatting.size(device.end_bytes), None)
        then = " at the end" if device.has_history else ""
        state = reports.memory.fragmentation(device, "device")
        for row in data.rows(state.query).itertuples():
            share = f"{formatting.percent(row.inactive_percent)} of the memory reserved then"
            _metric(f"Unused{then}", formatting.size(row.inactive_bytes), share)
            _metric(
                f"Stranded{then}",
                formatting.size(row.stranded_bytes),
                None,
                "Unused memory that cannot be released, because its segment also holds "
                "allocations.",
            )


def _share(device: DeviceMemory) -> str | None:
    """Return the peak as a share of the memory reserved at that moment.

    More memory may be reserved later.
    """
    where = {**device.where(), "ordinal": device.peak_ordinal}
    moments = data.rows(select("reserved_bytes", "memory_timeline", where))
    reserved = next(iter(moments["reserved_bytes"]), None)
    if formatting.missing(reserved) or not reserved:
        return None
    share = formatting.percent(100 * device.peak_bytes / reserved)
    then = " then" if device.has_history else ""
    return f"{share} of {formatting.size(reserved)} reserved{then}"


def _when(device: DeviceMemory) -> tuple[str, str, str | None]:
    """Return label, value and note of the metric for when the peak was reached.

    It is a time since the first action if that is known, else an action.
    """
    if device.peak_ordinal < 0:
        return "Reached", "at the start", None
    action = f"action {device.peak_ordinal:,} of {device.actions:,}"
    if device.peak_ns is None or device.first_ns is None:
        return "Reached at action", formatting.count(device.peak_ordinal), f"of {device.actions:,}"
    return "Reached after", formatting.duration(device.peak_ns - device.first_ns), action


def _metric(label: str, value: str, note: str | None, meaning: str | None = None) -> None:
    st.metric(label, value, note, delta_color="off", delta_arrow="off", help=meaning)

"""The device whose memory the page shows, and its metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import Query, Scalar, select
from dashboard.widgets import run_picker

COLUMNS = (
    "run_id, source_id, rank, device_type, device, device_label(device_type, device) AS label, "
    "origin, actions, allocations, first_ns, last_ns, start_bytes, peak_bytes, peak_ordinal, "
    "peak_ns, end_bytes, peak_reserved_bytes, end_reserved_bytes"
)
ORIGINS = {"snapshot": "snapshot", "trace": "profiler", "timeline": "memory timeline"}
HISTORY = 2  # actions: taking a snapshot is one itself


@dataclass(frozen=True)
class MemoryDevice:
    """A device in a source, with its row of `memory_peak`."""

    run: str
    source: int
    rank: int
    device_type: str
    device: int | None
    label: str  # as PyTorch names it: cuda:0
    origin: str
    actions: int
    allocations: int
    first_ns: int | None
    last_ns: int | None
    start_bytes: int
    peak_bytes: int
    peak_ordinal: int
    peak_ns: int | None
    end_bytes: int
    peak_reserved_bytes: int | None
    end_reserved_bytes: int | None

    @property
    def key(self) -> str:
        """Tells the widgets of one device from those of another."""
        return f"{self.run}-{self.source}-{self.label}"

    @property
    def arguments(self) -> list[Scalar]:
        """The first arguments of the macros about one device."""
        return [self.run, self.source, self.device_type, self.device]

    @property
    def has_history(self) -> bool:
        """Whether there is a curve, and not only a state."""
        return self.actions >= HISTORY

    @property
    def span_ns(self) -> int:
        """Time from the first action to the last; 0 where none was recorded."""
        if self.first_ns is None or self.last_ns is None:
            return 0
        return self.last_ns - self.first_ns

    @property
    def end_ordinal(self) -> int:
        """The last action; -1 without any."""
        return self.actions - 1

    def where(self) -> dict[str, Scalar]:
        """The conditions that a view's row is about this device."""
        return {
            "run_id": self.run,
            "source_id": self.source,
            "device_type": self.device_type,
            "device": self.device,
        }

    def at(self, ordinal: int) -> dict[str, Query]:
        """The relation `moment`, after an action or, of -1, before the first: for the macros that
        take moments."""
        return {"moment": select("*", "memory_timeline", {**self.where(), "ordinal": ordinal})}


def devices_of(runs: Sequence[str]) -> list[MemoryDevice]:
    """The devices whose memory is known, those first that say most."""
    frame = data.rows(select(COLUMNS, "memory_peak", {"run_id": runs}))
    found = [MemoryDevice(*map(_plain, row)) for row in frame.itertuples(index=False)]
    return sorted(found, key=_preference)


def _plain(value: Any) -> Any:
    """A cell as Python has it: text, a whole number, or None."""
    if formatting.missing(value):
        return None
    return value if isinstance(value, str) else int(value)


def _preference(device: MemoryDevice) -> tuple[bool, int, int, int, str]:
    origin = list(ORIGINS).index(device.origin) if device.origin in ORIGINS else len(ORIGINS)
    return device.device_type == "cpu", origin, device.rank, -device.peak_bytes, device.label


def labels(devices: Sequence[MemoryDevice]) -> dict[str, MemoryDevice]:
    """The devices by what tells them apart: rank and device, then the kind of file, then it."""
    named: dict[str, MemoryDevice] = {}
    for device in devices:
        label = f"rank {device.rank} {device.label}"
        alike = [
            other for other in devices if (other.rank, other.label) == (device.rank, device.label)
        ]
        if len(alike) > 1:
            label += f", {ORIGINS.get(device.origin, device.origin)}"
        if sum(other.origin == device.origin for other in alike) > 1:
            label += f" of file {device.source}"
        named[label] = device
    return named


def pick(devices: Sequence[MemoryDevice]) -> MemoryDevice:
    """One of a run's devices; asks only where there is a choice."""
    options = labels(devices)
    if len(options) == 1:
        return devices[0]
    places = {label: (device.rank, device.device) for label, device in options.items()}
    run_picker.choose_by_short_url("memory", places)
    chosen = st.selectbox(
        "Memory of",
        list(options),
        key="memory",
        bind="query-params",
        width=260,
        label_visibility="collapsed",
    )
    return options.get(str(chosen), devices[0])


def comparable(devices: Sequence[MemoryDevice]) -> dict[str, MemoryDevice]:
    """Of each run the device that says most; runs without memory are left out."""
    first: dict[str, MemoryDevice] = {}
    for device in devices:
        first.setdefault(device.run, device)
    return first


def warnings(device: MemoryDevice) -> list[tuple[str, str]]:
    """The code and the text of each warning about its file; of a trace, those about memory."""
    query = select(
        "unnest(warning_codes) AS code, unnest(warnings) AS message",
        "sources",
        {"run_id": device.run, "source_id": device.source},
    )
    return [
        (str(row.code), str(row.message))
        for row in data.rows(query).itertuples()
        if device.origin != "trace" or str(row.code).startswith("memory_")
    ]


def metrics(device: MemoryDevice) -> None:
    """The answer first: peak, when, reserved, at the end, and what lay idle."""
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
        columns = "inactive_bytes, stranded_bytes, inactive_percent"
        state = select(columns, "fragmentation", {**device.where(), "level": "device"})
        for row in data.rows(state).itertuples():
            said = f"{formatting.percent(row.inactive_percent)} of the memory reserved then"
            _metric(f"Unused{then}", formatting.size(row.inactive_bytes), said)
            _metric(
                f"Stranded{then}",
                formatting.size(row.stranded_bytes),
                None,
                "Unused, beside allocations in the same segment: it cannot be given back.",
            )


def _share(device: MemoryDevice) -> str | None:
    """The peak as a share of the memory reserved at that moment; more may be reserved later."""
    where = {**device.where(), "ordinal": device.peak_ordinal}
    moments = data.rows(select("reserved_bytes", "memory_timeline", where))
    reserved = next(iter(moments["reserved_bytes"]), None)
    if formatting.missing(reserved) or not reserved:
        return None
    share = formatting.percent(100 * device.peak_bytes / reserved)
    then = " then" if device.has_history else ""
    return f"{share} of {formatting.size(reserved)} reserved{then}"


def _when(device: MemoryDevice) -> tuple[str, str, str | None]:
    """Of the peak: time since the first action, else the number of its action."""
    if device.peak_ordinal < 0:
        return "Reached", "at the start", None
    action = f"action {device.peak_ordinal:,} of {device.actions:,}"
    if device.peak_ns is None or device.first_ns is None:
        return "Reached at action", formatting.count(device.peak_ordinal), f"of {device.actions:,}"
    return "Reached after", formatting.duration(device.peak_ns - device.first_ns), action


def _metric(label: str, value: str, note: str | None, meaning: str | None = None) -> None:
    st.metric(label, value, note, delta_color="off", delta_arrow="off", help=meaning)

"""Moments in a device's memory history: their names, and the actions at which they occur."""

import re
from dataclasses import dataclass
from decimal import Decimal

import duckdb

from ingest.errors import MissingError
from ingest.reports.device_memory import NS_PER_S, DeviceMemory
from ingest.reports.query import select

FIRST_UNIX_NS = 10**17  # the year 1973; an integer of at least this is Unix ns, not seconds
ACCEPTED = "peak, end, oom, seconds after the first action (1.25) or Unix nanoseconds"


@dataclass(frozen=True)
class Moment:
    """A moment, as requested by the user.

    `kind` is peak, end, after (`ns` since the device's first action), unix (`ns` since the epoch),
    or oom: each time that memory ran out.
    """

    kind: str
    ns: int = 0


def moment(text: str) -> Moment:
    """Parse a moment. Raise ValueError with the accepted forms if `text` is not a moment."""
    if text in ("peak", "end", "oom"):
        return Moment(text)
    if re.fullmatch(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)", text) and len(text) < 40:
        if "." not in text and int(text) >= FIRST_UNIX_NS:
            return Moment("unix", int(text))
        return Moment("after", int(Decimal(text) * NS_PER_S))
    raise ValueError(f"{text}: not a moment; use {ACCEPTED}")


def ordinal_at(connection: duckdb.DuckDBPyConnection, device: DeviceMemory, wanted: Moment) -> int:
    """Return the ordinal of the device's last action up to the moment; -1: before the first.

    The moment is not oom, which may be several. Raise MissingError if a time is needed and none was
    recorded.
    """
    assert wanted.kind != "oom"
    if wanted.kind == "peak":
        return device.peak_ordinal
    if wanted.kind == "end":
        return device.actions - 1
    if device.first_ns is None:
        reason = "has no times (torch before 2.2)" if device.actions else "has no history"
        raise MissingError(f"{device.path}: the snapshot {reason}; use peak, end or oom")
    until = wanted.ns if wanted.kind == "unix" else device.first_ns + wanted.ns
    within = {**device.where(), "time_ns <=": min(until, 2**63 - 1)}
    last = select("coalesce(max(ordinal), -1) AS ordinal", "memory_events", within)
    return int(last.rows(connection)[0]["ordinal"])


def name(
    connection: duckdb.DuckDBPyConnection, device: DeviceMemory, at: Moment, ordinal: int
) -> str:
    """Return the name of a moment, for example `at the peak`; `ordinal` belongs to its action."""
    if at.kind in ("peak", "end"):
        return f"at the {at.kind}"
    if ordinal < 0:
        return "before the first action"
    action = select("time_ns", "memory_events", {**device.where(), "ordinal": ordinal})
    (row,) = action.rows(connection)
    last = "the last, " if ordinal == device.end_ordinal else ""
    return f"after action {ordinal:,} ({last}at {device.seconds(row['time_ns'])})"

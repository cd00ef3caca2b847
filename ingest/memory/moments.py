"""Moments in a device's memory history: their names, and the actions at which they occur."""

import re
from dataclasses import dataclass
from decimal import Decimal

import duckdb

from ingest.errors import MissingError

FIRST_UNIX_NS = 10**17  # the year 1973; an integer of at least this is Unix ns, not seconds
NS_PER_S = 1_000_000_000
# The condition that a row belongs to a device. Its parameters are `DeviceMemory.key`.
OF_DEVICE = "run_id = $1 AND source_id = $2 AND device_id = $3"
# The beginning of a query that passes a moment to a macro. The query's first parameters are
# `DeviceMemory.at`. If the CTE were materialised, it would hide the run, and DuckDB would read all
# runs.
AT = f"WITH moment AS NOT MATERIALIZED (FROM memory_timeline WHERE {OF_DEVICE} AND ordinal = $4)"
ACCEPTED = "peak, end, oom, seconds after the first action (1.25) or Unix nanoseconds"
LEVELS = {
    "frame": "line of code",
    "stack": "stack",
    "module": "nn.Module",
    "op": "operator",
    "category": "category",
}


@dataclass(frozen=True)
class DeviceMemory:
    """A device of a source: a row of `memory_peak`.

    Sizes are in bytes and times in Unix ns. Values that were not recorded are None.
    """

    run_id: str
    source_id: int
    rank: int
    device_id: str
    label: str
    path: str
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
    end_reserved_bytes: int | None
    peak_reserved_bytes: int | None

    @property
    def key(self) -> list[object]:
        """The key of the device: run, source and device."""
        return [self.run_id, self.source_id, self.device_id]

    def at(self, ordinal: int) -> list[object]:
        """Return the parameters of `AT` for the moment after an action; -1: before the first."""
        return [*self.key, ordinal]

    def seconds(self, time_ns: int | None) -> str | None:
        """Format a Unix time as seconds after the first action, or return None if it is unknown."""
        if time_ns is None or self.first_ns is None:
            return None
        return f"{(time_ns - self.first_ns) / NS_PER_S:.6f} s"


@dataclass(frozen=True)
class Moment:
    """A moment, as requested by the user.

    `kind` is peak, end, oom, after (`ns` since the device's first action) or unix (`ns` since the
    epoch).
    """

    kind: str
    ns: int = 0


def devices(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[DeviceMemory]:
    """Return the devices whose memory was recorded, in the order of their sources, CPU last.

    A source may have several devices, and several sources may record the same device. Raise
    MissingError if the run has none.
    """
    rows = connection.execute(
        """
        SELECT peak.run_id, peak.source_id, peak.rank, peak.device_id,
            device_label(peak.device_type, peak.device), sources.path, peak.origin, peak.actions,
            peak.allocations, peak.first_ns, peak.last_ns, peak.start_bytes, peak.peak_bytes,
            peak.peak_ordinal, peak.peak_ns, peak.end_bytes,
            peak.end_reserved_bytes, peak.peak_reserved_bytes
        FROM memory_peak AS peak
        INNER JOIN sources ON peak.run_id = sources.run_id AND peak.source_id = sources.source_id
        WHERE peak.run_id = $1
        ORDER BY peak.source_id, peak.device_type = 'cpu', peak.device_type, peak.device
        """,
        [run_id],
    ).fetchall()
    if not rows:
        has_graph = connection.execute(
            "SELECT 1 FROM megengine_memory_chunks WHERE run_id = $1 LIMIT 1", [run_id]
        ).fetchall()
        raise MissingError(
            f"{run_id}: this command cannot show the memory of a MegEngine graph; see the page "
            "Memory of the dashboard, or the view megengine_memory_over_order"
            if has_graph
            else f"{run_id}: no memory was recorded; profile with profile_memory=True, or add a "
            "snapshot of torch.cuda.memory._dump_snapshot()"
        )
    return [DeviceMemory(*row) for row in rows]


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

    The moment is peak, end or a time. Raise MissingError if a time is needed and none was recorded.
    """
    if wanted.kind == "peak":
        return device.peak_ordinal
    if wanted.kind == "end":
        return device.actions - 1
    if device.first_ns is None:
        reason = "has no times (torch before 2.2)" if device.actions else "has no history"
        raise MissingError(f"{device.path}: the snapshot {reason}; use peak, end or oom")
    until = wanted.ns if wanted.kind == "unix" else device.first_ns + wanted.ns
    (row,) = connection.execute(
        f"""
        SELECT coalesce(max(ordinal), -1) FROM memory_events
        WHERE {OF_DEVICE} AND time_ns <= $4
        """,
        [*device.key, min(until, 2**63 - 1)],
    ).fetchall()
    return int(row[0])


@dataclass(frozen=True)
class Owner:
    """An owner of memory at a moment. `allocations` is None if their number is unknown."""

    name: str
    is_known: bool
    bytes: int
    allocations: int | None
    percent: float | None
    stack_id: int | None


def owners(
    connection: duckdb.DuckDBPyConnection, device: DeviceMemory, ordinal: int, level: str
) -> list[Owner]:
    """Return the owners of the device's memory after an action, the largest first.

    The levels are those of `memory_owners`.
    """
    rows = connection.execute(
        f"""{AT}
        SELECT name, is_known, bytes, allocations, percent, stack_id
        FROM memory_by_owner_at('moment')
        WHERE level = $5
        ORDER BY bytes DESC, name, stack_id
        """,
        [*device.at(ordinal), level],
    ).fetchall()
    return [Owner(*row) for row in rows]


def best_level(connection: duckdb.DuckDBPyConnection, device: DeviceMemory, ordinal: int) -> str:
    """Return the first of the levels frame, op and category at which an owner is known."""
    for level in ("frame", "op", "category"):
        if any(owner.is_known for owner in owners(connection, device, ordinal, level)):
            return level
    return "frame"


def stack_frames(
    connection: duckdb.DuckDBPyConnection, run_id: str, stack_ids: list[int]
) -> dict[int, list[str]]:
    """Return the frames of stacks, innermost first, as `file:line function`."""
    rows = connection.execute(
        """
        SELECT stack_id, list(concat(filename, ':' || line, ' ', function) ORDER BY depth)
        FROM stack_frames
        WHERE run_id = $1 AND stack_id IN (SELECT unnest($2::INTEGER[]))
        GROUP BY stack_id
        """,
        [run_id, stack_ids],
    ).fetchall()
    return dict(rows)

"""Devices whose memory a run recorded."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from ingest.errors import MissingError
from ingest.reports.query import Query, Scalar, select

NS_PER_S = 1_000_000_000
# Minimum number of actions in a history; taking a snapshot is an action too.
MIN_HISTORY_ACTIONS = 2
COLUMNS = (
    "peak.run_id, peak.source_id, peak.rank, peak.device_id, peak.device_type, peak.device, "
    "device_label(peak.device_type, peak.device) AS label, path, origin, actions, allocations, "
    "first_ns, last_ns, start_bytes, peak_bytes, peak_ordinal, peak_ns, end_bytes, "
    "end_reserved_bytes, peak_reserved_bytes"
)


@dataclass(frozen=True)
class DeviceMemory:
    """A device of a source: a row of `memory_peak`. Values that were not recorded are None.

    `label` is PyTorch's name of the device, for example cuda:0. Sizes are in bytes, times in
    Unix ns.
    """

    run_id: str
    source_id: int
    rank: int
    device_id: str
    device_type: str
    device: int | None
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
    def file(self) -> str:
        """The name of the source's file."""
        return self.path.replace("\\", "/").rpartition("/")[2]

    @property
    def has_history(self) -> bool:
        """Whether there is a curve, not only a state."""
        return self.actions >= MIN_HISTORY_ACTIONS

    @property
    def span_ns(self) -> int:
        """Time from the first action to the last, or 0 if no times were recorded."""
        if self.first_ns is None or self.last_ns is None:
            return 0
        return self.last_ns - self.first_ns

    @property
    def end_ordinal(self) -> int:
        """The ordinal of the last action, or -1 without actions."""
        return self.actions - 1

    @property
    def key(self) -> str:
        """A text that identifies the device among those of all runs."""
        return f"{self.run_id}-{self.source_id}-{self.label}"

    @property
    def arguments(self) -> list[Scalar]:
        """The first arguments of macros about one device."""
        return [self.run_id, self.source_id, self.device_id]

    def where(self) -> dict[str, Scalar]:
        """Return the conditions for rows of a view about this device."""
        return {"run_id": self.run_id, "source_id": self.source_id, "device_id": self.device_id}

    def at(self, ordinal: int) -> dict[str, Query]:
        """Return the relation `moment`, which macros about moments take.

        The moment is the one after the action `ordinal`; -1 is the moment before the first action.
        """
        return {"moment": select("*", "memory_timeline", {**self.where(), "ordinal": ordinal})}

    def seconds(self, time_ns: int | None) -> str | None:
        """Format a Unix time as seconds after the first action, or return None if it is unknown."""
        if time_ns is None or self.first_ns is None:
            return None
        return f"{(time_ns - self.first_ns) / NS_PER_S:.6f} s"


def devices_of(run_ids: Sequence[str]) -> Query:
    """Return the query for the devices of runs, in the order of their sources, CPU last.

    Its columns are the fields of `DeviceMemory`. A source may have several devices, and several
    sources may have recorded the same device.
    """
    return select(
        COLUMNS,
        "memory_peak AS peak INNER JOIN sources "
        "ON peak.run_id = sources.run_id AND peak.source_id = sources.source_id",
        {"peak.run_id": run_ids},
        order_by="peak.source_id, peak.device_type = 'cpu', peak.device_type, peak.device",
    )


def devices(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[DeviceMemory]:
    """Return the devices of a run. Raise MissingError if it recorded no memory."""
    found = [DeviceMemory(**row) for row in devices_of([run_id]).rows(connection)]
    if found:
        return found
    if select("1", "megengine_memory_chunks", {"run_id": run_id}, limit=1).rows(connection):
        raise MissingError(
            f"{run_id}: this command cannot show the memory of a MegEngine graph; see the page "
            "Memory of the dashboard, or the view megengine_memory_over_order"
        )
    raise MissingError(
        f"{run_id}: no memory was recorded; profile with profile_memory=True, or add a "
        "snapshot of torch.cuda.memory._dump_snapshot()"
    )

"""The device, size, start and clocks of a run, from the metadata of its files."""

from datetime import UTC, datetime
from typing import Any

from ingest.formats import Source

LATEST_UNIX_NS = 3 * 10**18
MOST_RANKS = 1_000_000


def base_ns(source: Source) -> int:
    """What the file's times count from, Unix ns; 0 where its metadata has no valid base."""
    recorded = source.metadata.get("baseTimeNanoseconds", 0)
    try:
        base = int(recorded)
    except (TypeError, ValueError, OverflowError):
        base = -1
    if 0 <= base <= LATEST_UNIX_NS:
        return base
    source.warn("base_time_invalid", f"baseTimeNanoseconds is no time: {str(recorded)[:40]}")
    return 0


def device_name(metadata: list[dict[str, Any]]) -> str | None:
    """The first device that the traces' metadata names."""
    for values in metadata:
        devices = values.get("deviceProperties")
        for device in devices if isinstance(devices, list) else []:
            if isinstance(device, dict) and device.get("name"):
                return str(device["name"])
    return None


def world_size(metadata: list[dict[str, Any]]) -> int | None:
    """Processes of the job, where the traces say so."""
    for values in metadata:
        distributed = values.get("distributedInfo")
        size = distributed.get("world_size") if isinstance(distributed, dict) else None
        if isinstance(size, int) and 0 < size <= MOST_RANKS:
            return int(size)
    return None


def started_at(said: dict[str, Any]) -> datetime | None:
    """When the profile began, UTC, as run.json says."""
    try:
        started = datetime.fromisoformat(str(said["started_at"]))
        return started.astimezone(UTC).replace(tzinfo=None)
    except (KeyError, ValueError, OverflowError):
        return None

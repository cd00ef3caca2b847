"""Device, world size, start and clocks of a run, from the metadata of its files."""

from datetime import UTC, datetime
from typing import Any

from ingest.formats import Source

LATEST_UNIX_NS = 3 * 10**18
MAX_RANKS = 1_000_000


def base_ns(source: Source) -> int:
    """Return the base of the file's times, Unix ns, or 0 if its metadata has no valid base.

    Warn if the base is invalid.
    """
    recorded = source.metadata.get("baseTimeNanoseconds", 0)
    try:
        base = int(recorded)
    except (TypeError, ValueError, OverflowError):
        base = -1
    if 0 <= base <= LATEST_UNIX_NS:
        return base
    source.warn(
        "base_time_invalid",
        f"baseTimeNanoseconds is not a valid Unix time, ignored: {str(recorded)[:40]}",
    )
    return 0


def device_name(metadata: list[dict[str, Any]]) -> str | None:
    """Return the name of the first device in the traces' metadata, or None."""
    for values in metadata:
        devices = values.get("deviceProperties")
        for device in devices if isinstance(devices, list) else []:
            if isinstance(device, dict) and device.get("name"):
                return str(device["name"])
    return None


def world_size(metadata: list[dict[str, Any]]) -> int | None:
    """Return the number of processes of the job, or None if no trace records it."""
    for values in metadata:
        distributed = values.get("distributedInfo")
        size = distributed.get("world_size") if isinstance(distributed, dict) else None
        if isinstance(size, int) and 0 < size <= MAX_RANKS:
            return int(size)
    return None


def started_at(description: dict[str, Any]) -> datetime | None:
    """Return the start of the profile, UTC, from the contents of run.json, or None."""
    try:
        started = datetime.fromisoformat(str(description["started_at"]))
        return started.astimezone(UTC).replace(tzinfo=None)
    except (KeyError, ValueError, OverflowError):
        return None

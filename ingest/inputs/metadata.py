"""The device, world size and start of a run, as its files record them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from ingest.formats import Source


def device_name(sources: Iterable[Source]) -> str | None:
    """Return the name of the first device that the files describe, or None."""
    names = (device["name"] for source in sources for device in source.devices)
    return next(filter(None, names), None)


def world_size(sources: Iterable[Source]) -> int | None:
    """Return the number of processes of the job, or None if no file records it."""
    sizes = (source.world_size for source in sources)
    return next(filter(None, sizes), None)


def started_at(description: dict[str, Any]) -> datetime | None:
    """Return the start of the profile, UTC, from the contents of run.json, or None."""
    try:
        started = datetime.fromisoformat(str(description["started_at"]))
        return started.astimezone(UTC).replace(tzinfo=None)
    except (KeyError, ValueError, OverflowError):
        return None

"""The events of a compile log: phases with a begin and an end, in Unix time."""

from collections import Counter
from typing import Any

from ingest.formats.compile_log.reader import Record

LATEST_US = 4e15  # up to 2096
LONGEST_US = 1e12  # eleven days


class Clock:
    """Unix time of records that have but a time of day: events have both."""

    def __init__(self) -> None:
        self._offset_us: int | None = None

    def set(self, event: dict[str, Any], record: Record) -> float | None:
        """When the event was, Unix time, µs."""
        at_us = event.get("ts")
        if isinstance(at_us, bool) or not isinstance(at_us, int | float):
            return None
        if not 0 <= at_us < LATEST_US:
            return None
        self._offset_us = int(at_us) - record.clock_us
        return at_us

    def time_ns(self, record: Record) -> int | None:
        return None if self._offset_us is None else (record.clock_us + self._offset_us) * 1000


class Phases:
    """Finds the begin of each phase that ends."""

    def __init__(self, dropped: Counter[str]) -> None:
        self._dropped = dropped
        self._begun: dict[Any, list[tuple[str, float]]] = {}

    @property
    def open(self) -> int:
        return sum(map(len, self._begun.values()))

    def add(
        self, event: dict[str, Any], compile_id: str | None, at_us: float
    ) -> list[tuple[str | None, str, int, int]]:
        """The phases that end with this event: compile id, name, start and end in ns."""
        name, kind = str(event.get("name")), event.get("ph")
        begun = self._begun.setdefault((compile_id, str(event.get("tid"))), [])
        if kind == "B":
            begun.append((name, at_us))
        elif kind == "E":
            place = next((n for n in reversed(range(len(begun))) if begun[n][0] == name), None)
            if place is None:
                self._dropped["phase without a begin"] += 1
                return []
            (_, start_us), *unended = begun[place:]
            del begun[place:]
            if unended:
                self._dropped["phase without an end"] += len(unended)
            if not start_us <= at_us < start_us + LONGEST_US:
                self._dropped["phase of no possible length"] += 1
                return []
            return [(compile_id, name, _ns(start_us), _ns(at_us))]
        return []


def _ns(us: float) -> int:
    """Whole ns of µs since 1970, of which a double holds quarters."""
    return int(us) * 1000 + round(us % 1 * 1000)

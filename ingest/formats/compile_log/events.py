"""Events of a compile log: compilation phases with a start and an end, in Unix time."""

from collections import Counter
from typing import Any

from ingest.formats.compile_log.reader import Record

LATEST_US = 4e15  # up to 2096
LONGEST_US = 1e12  # eleven days
# What torch logs when a compilation begins.
FIRST_RECORDS = {"dynamo_start", "recompile_reasons"}
FIRST_PHASES = {"dynamo", "entire_frame_compile", "_compile.compile_inner"}


class Clock:
    """Converts the records' times of day to Unix time. Only events have both times."""

    def __init__(self) -> None:
        self._offset_us: int | None = None

    def set(self, event: dict[str, Any], record: Record) -> float | None:
        """Return the event's Unix time, µs, and set the clock by it.

        Return None if the event has no valid Unix time. `record` is the record of the event, with
        the time of day.
        """
        at_us = event.get("ts")
        if isinstance(at_us, bool) or not isinstance(at_us, int | float):
            return None
        if not 0 <= at_us < LATEST_US:
            return None
        self._offset_us = int(at_us) - record.clock_us
        return at_us

    def time_ns(self, record: Record) -> int | None:
        """Return the Unix time of a record, ns, or None before the first event."""
        return None if self._offset_us is None else (record.clock_us + self._offset_us) * 1000


class Resets:
    """Counts the resets of Dynamo. After one, it compiles under ids that have been compiled."""

    def __init__(self) -> None:
        self._count = 0
        self._compiled: set[str | None] = set()

    def count(self, record: Record, event: dict[str, Any] | None) -> int:
        """Return the number of resets before a record. `event` is its content if it is an event."""
        begins = record.name in FIRST_RECORDS or (
            event is not None and event.get("ph") == "B" and event.get("name") in FIRST_PHASES
        )
        if begins and record.compile_id in self._compiled:
            self._count += 1
            self._compiled.clear()
        if record.name == "compilation_metrics":
            self._compiled.add(record.compile_id)
        return self._count


class Phases:
    """Pairs the start and end events of phases."""

    def __init__(self, dropped: Counter[str]) -> None:
        self._dropped = dropped
        self._begun: dict[Any, list[tuple[str, float]]] = {}

    @property
    def open(self) -> int:
        """The number of phases that have started but not ended."""
        return sum(map(len, self._begun.values()))

    def add(
        self, event: dict[str, Any], compile_id: str | None, at_us: float
    ) -> list[tuple[str | None, str, int, int]]:
        """Return the phases that this event ends: compile id, name, start and end in ns."""
        name, kind = str(event.get("name")), event.get("ph")
        begun = self._begun.setdefault((compile_id, str(event.get("tid"))), [])
        if kind == "B":
            begun.append((name, at_us))
        elif kind == "E":
            last = next((n for n in reversed(range(len(begun))) if begun[n][0] == name), None)
            if last is None:
                self._dropped["phase without a start"] += 1
                return []
            (_, start_us), *unended = begun[last:]
            del begun[last:]
            if unended:
                self._dropped["phase without an end"] += len(unended)
            if not start_us <= at_us < start_us + LONGEST_US:
                self._dropped["phase with an impossible duration"] += 1
                return []
            return [(compile_id, name, _ns(start_us), _ns(at_us))]
        return []


def _ns(us: float) -> int:
    """Convert µs since 1970 to ns. A double can represent them to a quarter of a µs."""
    return int(us) * 1000 + round(us % 1 * 1000)

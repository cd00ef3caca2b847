"""Numbers of MegEngine profiles, computed in plain Python from their JSON."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Figure = float | None


@dataclass(frozen=True)
class Profile:
    """The sections of an intact profile."""

    profiler: dict[str, Any]
    graph: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> "Profile":
        """Read the profile in a file."""
        whole = json.loads(path.read_text())
        return cls(whole["profiler"], whole["graph_exec"])

    @property
    def oprs(self) -> dict[str, dict[str, Any]]:
        """The operators of the graph, in the file's order."""
        return dict(self.graph["operator"])

    def places(self, side: str, opr: str) -> dict[str, dict[str, float]]:
        """Return an operator's times on each comp node or thread."""
        return dict(self.profiler[side].get(opr, {}))

    def times(self, side: str = "device", key: str = "end") -> dict[str, float]:
        """Return the time in s of each operator that has times: the longest over all comp nodes."""
        return {
            opr: max(time[key] - time["start"] for time in places.values())
            for opr in self.oprs
            if (places := self.places(side, opr))
        }

    def flo(self, opr: str) -> Figure:
        """Return an operator's floating-point operations, or None if they were not counted."""
        return self.profiler["opr_footprint"].get(opr, {}).get("computation") or None

    def memory(self, opr: str) -> Figure:
        """Return the bytes that an operator reads and writes."""
        return self.profiler["opr_footprint"].get(opr, {}).get("memory")

    def by_type(self, oprs: list[str]) -> dict[str, list[str]]:
        """Group these operators by type. Types are in order of their first occurrence."""
        found: dict[str, list[str]] = {}
        for opr in oprs:
            found.setdefault(self.oprs[opr]["type"], []).append(opr)
        return found


def rate(amount: Figure, seconds: float) -> Figure:
    """Return an amount per second: infinite for zero time, and NaN for zero in zero time."""
    if amount is None:
        return None
    if seconds == 0:
        return math.nan if amount == 0 else math.copysign(math.inf, amount)
    return amount / seconds

"""Figures of MegEngine's profiles, in plain Python from their JSON."""

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
        """The profile in a file."""
        whole = json.loads(path.read_text())
        return cls(whole["profiler"], whole["graph_exec"])

    @property
    def oprs(self) -> dict[str, dict[str, Any]]:
        """The operators of the graph, in the file's order."""
        return dict(self.graph["operator"])

    def places(self, side: str, opr: str) -> dict[str, dict[str, float]]:
        """An operator's times on each comp node or thread."""
        return dict(self.profiler[side].get(opr, {}))

    def times(self, side: str = "device", key: str = "end") -> dict[str, float]:
        """How long each operator with times took: the longest of all places, in s."""
        return {
            opr: max(time[key] - time["start"] for time in places.values())
            for opr in self.oprs
            if (places := self.places(side, opr))
        }

    def flo(self, opr: str) -> Figure:
        """Floating-point operations; None where none were counted."""
        return self.profiler["opr_footprint"].get(opr, {}).get("computation") or None

    def memory(self, opr: str) -> Figure:
        """Bytes that are read and written."""
        return self.profiler["opr_footprint"].get(opr, {}).get("memory")

    def by_type(self, oprs: list[str]) -> dict[str, list[str]]:
        """These operators by their type; types in the order in which they come first."""
        found: dict[str, list[str]] = {}
        for opr in oprs:
            found.setdefault(self.oprs[opr]["type"], []).append(opr)
        return found


def rate(amount: Figure, seconds: float) -> Figure:
    """An amount per second: infinite for no time, and NaN for nothing in no time."""
    if amount is None:
        return None
    if seconds == 0:
        return math.nan if amount == 0 else math.copysign(math.inf, amount)
    return amount / seconds

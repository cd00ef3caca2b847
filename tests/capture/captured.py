"""A run directory, read by the tests."""

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.capture.processes import Finished


@dataclass(frozen=True)
class Captured:
    """The content of a run directory, and the finished command that wrote it."""

    directory: Path
    finished: Finished | None
    run: dict[str, Any]
    events: list[dict[str, Any]]

    @classmethod
    def read(cls, directory: Path, finished: Finished | None = None) -> "Captured":
        """Read `run.json`, and the trace if there is exactly one."""
        traces = sorted(directory.glob("*.trace.json.gz"))
        run = cls.described(directory / "run.json")
        return cls(directory, finished, run, events(traces[0]) if len(traces) == 1 else [])

    @staticmethod
    def described(file: Path) -> dict[str, Any]:
        """Return the content of a `run.json` or `rank<r>.json`."""
        return dict(json.loads(file.read_text(encoding="utf-8")))

    def named(self, pattern: str) -> list[dict[str, Any]]:
        """Return complete events whose full name matches the pattern, in order of time."""
        found = [e for e in self.events if e["ph"] == "X" and re.fullmatch(pattern, e["name"])]
        return sorted(found, key=lambda event: event["ts"])

    @property
    def steps(self) -> list[str]:
        """The names of the profiler's steps, in order of time."""
        return [step["name"] for step in self.named(r"ProfilerStep#\d+")]


def events(trace: Path) -> list[dict[str, Any]]:
    """Return the events of a trace, which must be valid JSON."""
    with gzip.open(trace, "rt", encoding="utf-8") as file:
        return json.load(file)["traceEvents"]

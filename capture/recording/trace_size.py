"""Estimates the size of a trace while it is recorded, and warns early if it will be large."""

from __future__ import annotations

from capture.errors import warn
from capture.recording.memory import rss_bytes
from capture.recording.schedule import AnySchedule

LIMIT_BYTES = 1 << 30
# Bytes of JSON per byte of memory that torch 2.13 uses while it records Python frames, measured on
# a small model of linear layers. To write the JSON, torch needs eight times its size.
JSON_PER_RSS_WITH_SHAPES, JSON_PER_RSS = 1.1, 2.5


class TraceSize:
    """Estimates the trace size of a recording with Python frames from the growth of the process."""

    def __init__(self, schedule: AnySchedule, with_stack: bool, record_shapes: bool) -> None:
        self._schedule = schedule
        self._before = rss_bytes() if with_stack else None
        self._json_per_rss = JSON_PER_RSS_WITH_SHAPES if record_shapes else JSON_PER_RSS
        self._recorded = 0

    def check(self, step: int) -> None:
        """Warn once if the trace is expected to exceed the limit. Called after each step."""
        if self._before is None or not self._schedule.records(step):
            return
        now = rss_bytes() or self._before
        self._recorded += 1
        whole = max(self._schedule.active or 0, self._recorded)
        expected = (now - self._before) / self._recorded * whole * self._json_per_rss
        if expected > LIMIT_BYTES:
            self._before = None
            warn(
                f"the trace will have about {expected / 2**30:.1f} GiB of JSON, and writing it "
                "needs eight times as much memory: record fewer steps, or no Python frames"
            )

"""How large a trace will be: a warning while it can still be made smaller."""

from __future__ import annotations

from capture.errors import warn
from capture.recording.memory import rss_bytes
from capture.recording.schedule import AnySchedule

LIMIT_BYTES = 1 << 30
# Bytes of JSON for each byte that torch 2.13 holds while it records Python frames, measured on a
# small model of linear layers; to write them, torch takes eight times as many.
JSON_PER_RSS_WITH_SHAPES, JSON_PER_RSS = 1.1, 2.5


class TraceSize:
    """Watches a recording with Python frames grow, by the memory that the process takes for it."""

    def __init__(self, schedule: AnySchedule, with_stack: bool, record_shapes: bool) -> None:
        self._schedule = schedule
        self._before = rss_bytes() if with_stack else None
        self._json_per_rss = JSON_PER_RSS_WITH_SHAPES if record_shapes else JSON_PER_RSS
        self._recorded = 0

    def check(self, step: int) -> None:
        """After each step: warns, once, where the trace is on its way past the limit."""
        if self._before is None or not self._schedule.records(step):
            return
        now = rss_bytes() or self._before
        self._recorded += 1
        whole = max(self._schedule.active or 0, self._recorded)
        expected = (now - self._before) / self._recorded * whole * self._json_per_rss
        if expected > LIMIT_BYTES:
            self._before = None
            warn(
                f"the trace will hold about {expected / 2**30:.1f} GiB of JSON, and writing it "
                "takes eight times that of memory: record fewer steps, or no Python frames"
            )

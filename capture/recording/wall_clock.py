"""Notices that the clock of the machine was set during a recording."""

from __future__ import annotations

import time

from capture.units import duration

NOISE_NS = 1_000_000  # of two readings one after the other, on a busy machine
SLEW = 1e-3  # NTP corrects a clock by at most half of this


class WallClock:
    """The clock of the machine, from construction on.

    Torch measures times with the counter of the processor, and reads this clock at both ends of a
    recording to convert them. If it is set in between, all times in the trace are stretched.
    """

    def __init__(self) -> None:
        self._began_ns = time.perf_counter_ns()
        self._ahead_ns = time.time_ns() - self._began_ns

    def change(self) -> str | None:
        """Return a sentence that says by how much the clock was set since then, or None."""
        now_ns = time.perf_counter_ns()
        change_ns = time.time_ns() - now_ns - self._ahead_ns
        if abs(change_ns) <= NOISE_NS + SLEW * (now_ns - self._began_ns):
            return None
        direction = "forward" if change_ns > 0 else "back"
        return (
            f"the clock of the machine was set {direction} by {duration(abs(change_ns))} during "
            "the recording, so the times in the trace are stretched"
        )

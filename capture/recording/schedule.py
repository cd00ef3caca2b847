"""When a profiler records: which steps, in how many cycles."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from capture.errors import CaptureError

if TYPE_CHECKING:
    from torch.profiler import ProfilerAction


@dataclass(frozen=True)
class Schedule:
    """Cycles of steps, as `torch.profiler.schedule` has them; without `active`, all is recorded.

    skip_first  steps before the first cycle
    wait        steps of a cycle that are not profiled
    warmup      steps of a cycle that are profiled and thrown away
    active      steps of a cycle that are recorded
    repeat      cycles; 0 for as many as there are steps for
    """

    skip_first: int = 0
    wait: int = 0
    warmup: int = 0
    active: int | None = None
    repeat: int = 1

    def __post_init__(self) -> None:
        steps = (self.skip_first, self.wait, self.warmup, self.repeat)
        if min(steps) < 0 or (self.active is not None and self.active < 1):
            raise CaptureError("a schedule counts steps: none may be negative, active at least 1")
        if self.active is None and any(steps[:3]):
            raise CaptureError("a schedule with skip_first, wait or warmup needs active steps, too")

    @property
    def numbers_cycles(self) -> bool:
        """Whether there can be several cycles, each with a trace of its own."""
        return self.active is not None and self.repeat != 1

    def actions(self) -> Callable[[int], ProfilerAction]:
        """What torch's profiler does in each step."""
        from torch.profiler import ProfilerAction, schedule

        if self.active is None:
            return lambda _: ProfilerAction.RECORD
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no warm-up, which was asked for
            planned = schedule(
                skip_first=self.skip_first,
                wait=self.wait,
                warmup=self.warmup,
                active=self.active,
                repeat=self.repeat,
            )

        def action(step: int) -> ProfilerAction:
            if step == 0 and not self.records(0):  # a body that never steps is recorded whole
                return ProfilerAction.RECORD_AND_SAVE
            planned_action: ProfilerAction = planned(step)
            return planned_action

        return action

    def records(self, step: int) -> bool:
        """Whether the step is one that is recorded."""
        if self.active is None:
            return True
        cycle, place = divmod(step - self.skip_first, self.wait + self.warmup + self.active)
        return 0 <= cycle < (self.repeat or cycle + 1) and place >= self.wait + self.warmup

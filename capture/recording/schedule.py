"""When a profiler records: which steps, in how many cycles."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

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

    def actions(self, whole_without_steps: bool = True) -> Callable[[int], ProfilerAction]:
        """What torch's profiler does in each step.

        With `whole_without_steps`, a body that never steps is recorded whole.
        """
        from torch.profiler import ProfilerAction, schedule

        if self.active is None:
            return lambda _: ProfilerAction.RECORD
        planned = self._planned(schedule)
        return _or_whole(planned, self) if whole_without_steps else planned

    def _planned(self, schedule: Callable[..., Any]) -> Callable[[int], ProfilerAction]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no warm-up, which was asked for
            planned: Callable[[int], ProfilerAction] = schedule(
                skip_first=self.skip_first,
                wait=self.wait,
                warmup=self.warmup,
                active=self.active,
                repeat=self.repeat,
            )
        return planned

    @property
    def description(self) -> dict[str, Any]:
        """What run.json says of it."""
        return asdict(self)

    def records(self, step: int) -> bool:
        """Whether the step is one that is recorded."""
        if self.active is None:
            return True
        cycle, place = divmod(step - self.skip_first, self.wait + self.warmup + self.active)
        return 0 <= cycle < (self.repeat or cycle + 1) and place >= self.wait + self.warmup


@dataclass(frozen=True)
class OwnSchedule:
    """A schedule of the user's own: a function from a step to what the profiler does in it."""

    plan: Callable[[int], ProfilerAction]
    active: int | None = None  # how many steps it records is not known
    numbers_cycles = True

    def actions(self, whole_without_steps: bool = True) -> Callable[[int], ProfilerAction]:
        """What torch's profiler does in each step, as `Schedule.actions` has it."""
        return _or_whole(self.plan, self) if whole_without_steps else self.plan

    def records(self, step: int) -> bool:
        """Whether the step is one that is recorded."""
        from torch.profiler import ProfilerAction

        return self.plan(step) in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    @property
    def description(self) -> dict[str, Any]:
        """What run.json says of it."""
        return {"schedule": getattr(self.plan, "__qualname__", type(self.plan).__name__)}


AnySchedule = Schedule | OwnSchedule


def _or_whole(
    planned: Callable[[int], ProfilerAction], schedule: AnySchedule
) -> Callable[[int], ProfilerAction]:
    """The plan, but a body that never steps is recorded whole."""
    from torch.profiler import ProfilerAction

    def action(step: int) -> ProfilerAction:
        if step == 0 and not schedule.records(0):
            return ProfilerAction.RECORD_AND_SAVE
        return planned(step)

    return action

"""Schedules: the steps and cycles that a profiler records."""

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
    """Cycles of steps as in `torch.profiler.schedule`. Without `active`, everything is recorded.

    skip_first  steps to skip before the first cycle
    wait        steps per cycle that are not profiled
    warmup      steps per cycle that are profiled and discarded
    active      steps per cycle that are recorded
    repeat      number of cycles; 0 repeats until the body ends

    Raises CaptureError for negative numbers and for a schedule without active steps.
    """

    skip_first: int = 0
    wait: int = 0
    warmup: int = 0
    active: int | None = None
    repeat: int = 1

    def __post_init__(self) -> None:
        steps = (self.skip_first, self.wait, self.warmup, self.repeat)
        if min(steps) < 0 or (self.active is not None and self.active < 1):
            raise CaptureError(
                "a schedule needs skip_first, wait, warmup and repeat of 0 or more, and active of "
                "1 or more"
            )
        if self.active is None and any(steps[:3]):
            raise CaptureError("a schedule with skip_first, wait or warmup also needs active")

    @property
    def numbers_cycles(self) -> bool:
        """Whether there can be several cycles, each with a separate trace."""
        return self.active is not None and self.repeat != 1

    def actions(self, whole_without_steps: bool = True) -> Callable[[int], ProfilerAction]:
        """Return the function from a step to the action of torch's profiler.

        With `whole_without_steps`, a body that never steps is recorded completely.
        """
        from torch.profiler import ProfilerAction, schedule

        if self.active is None:
            return lambda _: ProfilerAction.RECORD
        planned = self._planned(schedule)
        return _or_whole(planned, self) if whole_without_steps else planned

    def _planned(self, schedule: Callable[..., Any]) -> Callable[[int], ProfilerAction]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about schedules without warm-up
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
        """The schedule as run.json records it."""
        return asdict(self)

    def records(self, step: int) -> bool:
        """Return whether the step is recorded."""
        if self.active is None:
            return True
        cycle, position = divmod(step - self.skip_first, self.wait + self.warmup + self.active)
        return 0 <= cycle < (self.repeat or cycle + 1) and position >= self.wait + self.warmup


@dataclass(frozen=True)
class OwnSchedule:
    """A user's schedule: a function from a step to the action of the profiler."""

    plan: Callable[[int], ProfilerAction]
    active: int | None = None  # the number of recorded steps is unknown
    numbers_cycles = True

    def actions(self, whole_without_steps: bool = True) -> Callable[[int], ProfilerAction]:
        """Return the function from a step to the action, as `Schedule.actions` does."""
        return _or_whole(self.plan, self) if whole_without_steps else self.plan

    def records(self, step: int) -> bool:
        """Return whether the step is recorded."""
        from torch.profiler import ProfilerAction

        return self.plan(step) in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    @property
    def description(self) -> dict[str, Any]:
        """The schedule as run.json records it."""
        return {"schedule": getattr(self.plan, "__qualname__", type(self.plan).__name__)}


AnySchedule = Schedule | OwnSchedule


def _or_whole(
    planned: Callable[[int], ProfilerAction], schedule: AnySchedule
) -> Callable[[int], ProfilerAction]:
    """Return a plan that also records a body completely if it never steps."""
    from torch.profiler import ProfilerAction

    def action(step: int) -> ProfilerAction:
        if step == 0 and not schedule.records(0):
            return ProfilerAction.RECORD_AND_SAVE
        return planned(step)

    return action

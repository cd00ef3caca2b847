"""Traces of torch's profiler: the steps marked in them, and the files they become."""

from __future__ import annotations

import gzip
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.output.run_directory import appearing
from capture.recording.device_time import DeviceTime
from capture.recording.experimental import config_of
from capture.recording.labels import unseen
from capture.recording.schedule import AnySchedule
from capture.recording.trace_size import TraceSize
from capture.sigterm import writing

if TYPE_CHECKING:
    from torch.profiler import ProfilerActivity, profile, record_function


AFTER_STEPS = "after the last step"


class Trace:
    """Records, from `start` to `stop`, the steps that the schedule asks for.

    Each cycle's trace goes to `path(cycle)`, with None for the only one; then `on_ready` is called
    with the path. `cycles` counts them. `was_ended` says that another profiler, of which torch runs
    one at a time, has ended this one. `aside_ns` is the time spent between steps on starting,
    ending and writing traces, which takes longer than many steps. `steps_ns` is when each recorded
    step began and ended, Unix time. `device_time` is how long devices worked.
    """

    def __init__(
        self,
        activities: set[ProfilerActivity],
        options: dict[str, Any],
        schedule: AnySchedule,
        path: Callable[[int | None], Path],
        on_ready: Callable[[Path], object],
        execution_trace: Path | None = None,
    ) -> None:
        from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

        self.cycles = 0
        self._has_device = activities != {ProfilerActivity.CPU}
        self.was_ended = False
        self._thread = threading.get_ident()
        self.aside_ns = 0
        self.steps_ns: list[tuple[int, int]] = []
        self.device_time = DeviceTime()
        self._began_ns: int | None = None
        self._is_over = False
        self._schedule = schedule
        self._path = path
        self._on_ready = on_ready
        self._options = options
        self._execution_trace = execution_trace
        self._observer = ExecutionTraceObserver() if execution_trace else None
        self._discards = False
        self._steps = 0  # recorded, of this cycle
        self._steps_ended = 0
        self._cut_off: str | None = None  # the mark of a step that the end of the recording cut off
        self._steps_before = 0  # in `steps_ns`, those of earlier cycles
        self._mark: record_function | None = None
        self.profile = profile(
            activities=activities,
            # What is thrown away after the first step would stay in the events of all cycles.
            schedule=schedule.actions(whole_without_steps=not options["acc_events"]),
            on_trace_ready=self._save,
            execution_trace_observer=self._observer,
            # Torch 2.13 records no allocations where it records the operators of all threads.
            **options
            | {
                "experimental_config": config_of(
                    options["experimental_config"], all_threads=not options["profile_memory"]
                )
            },
        )
        self.profile.record_steps = False  # ours begin with a pipeline's loop, not right away

    def start(self) -> None:
        """Begins to record."""
        if self._observer and self._execution_trace:
            path = self._execution_trace
            self._plain_execution_trace = path.with_name(f".{path.name}.partial.json")
            self._observer.register_callback(str(self._plain_execution_trace))
        with _quiet(), _at_work():
            self.profile.start()
        self._size = TraceSize(
            self._schedule, self._options["with_stack"], self._options["record_shapes"]
        )

    def stop(self, keeps_step: bool = False) -> None:
        """Ends the recording, and writes what has been recorded; once.

        An unfinished step is not marked as a step, unless it is the only one or `keeps_step`.
        """
        if self._is_over:
            return
        self._is_over = True
        if self._mark and self._steps_ended and not keeps_step:
            self._cut_off, self._began_ns = self._mark.name, None
        self.unmark()
        # What is there of a further cycle is a step that has only begun.
        self._discards = self._steps == 0 and self.cycles > 0
        if self._goes_on():
            try:
                with _at_work(), writing():
                    self.profile.stop()
            finally:
                self._write_execution_trace()
        else:
            self._write_execution_trace()

    def _write_execution_trace(self) -> None:
        """Torch writes it while it records, and ends it here."""
        if not (self._observer and self._execution_trace):
            return
        self._observer.unregister_callback()
        plain = self._plain_execution_trace
        try:
            with (
                appearing(self._execution_trace) as temporary,
                plain.open("rb") as written,
                gzip.open(temporary, "wb", compresslevel=6) as packed,
            ):
                shutil.copyfileobj(written, packed)
        finally:
            plain.unlink(missing_ok=True)

    def abandon(self) -> None:
        """In a fork: records no more, and writes nothing."""
        import torch

        if not self._is_over and torch_records():
            torch._C._autograd._disable_profiler()
            torch.autograd.profiler._is_profiler_enabled = False
        if not self._is_over and self._observer:
            torch._C._profiler._disable_execution_trace_observer()
        self._is_over = True
        self._mark = None

    def mark(self, step: int) -> None:
        """Begins the range that marks the step."""
        from torch.profiler import record_function

        self._began_ns = time.time_ns() if self._schedule.records(step) else None
        with _at_work(), unseen():
            self._mark = record_function(f"ProfilerStep#{step}")
            self._mark.__enter__()  # type: ignore[no-untyped-call]

    @property
    def is_marked(self) -> bool:
        """Whether a step is under way."""
        return self._mark is not None

    def unmark(self) -> None:
        """Ends the range, if there is one."""
        if self._mark and threading.get_ident() == self._thread:
            with _at_work(), unseen():
                self._mark.__exit__(None, None, None)
                self._mark = None
            if self._began_ns is not None:
                self.steps_ns.append((self._began_ns, time.time_ns()))

    def end_step(self, step: int) -> None:
        """Moves on in the schedule."""
        self.unmark()
        if not self._goes_on():
            return
        self._steps_ended += 1
        self._steps += self._schedule.records(step)
        self._size.check(step)
        began_ns = time.perf_counter_ns()
        # The first step was recorded for a body without any, whatever the schedule says.
        self._discards = step == 0 and not self._schedule.records(0)
        with _quiet(), _at_work(), writing():
            self.profile.step()
        self._discards = False
        self.aside_ns += time.perf_counter_ns() - began_ns

    def _goes_on(self) -> bool:
        """Whether torch still records what it was asked to record."""
        from torch.profiler import ProfilerAction

        records = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if self.profile.current_action in records:
            self.was_ended = self.was_ended or not torch_records()
        return not self.was_ended

    def _save(self, profile: profile) -> None:
        """Writes a trace: torch calls this at the end of each cycle."""
        if self._discards:
            return
        self.cycles += 1
        self._steps = 0
        path = self._path(self.cycles if self._schedule.numbers_cycles else None)
        with appearing(path) as temporary:
            plain = temporary.with_suffix(".json")
            try:
                profile.export_chrome_trace(str(plain))
                _pack(plain, temporary, self._cut_off)
            finally:
                plain.unlink(missing_ok=True)
        if self._has_device:
            self.device_time.add(profile, self.steps_ns[self._steps_before :])
        self._steps_before = len(self.steps_ns)
        self._on_ready(path)


def _pack(plain: Path, packed: Path, cut_off: str | None) -> None:
    """Packs a trace. What follows the last whole step is no step, and is called otherwise."""
    step, other = f'"{cut_off}"'.encode(), f'"{AFTER_STEPS}"'.encode()
    with plain.open("rb") as trace, gzip.open(packed, "wb", compresslevel=6) as file:
        if cut_off:
            file.writelines(line.replace(step, other) for line in trace)
        else:
            shutil.copyfileobj(trace, file)


def torch_records() -> bool:
    """Whether a profiler of torch's is recording, in this process."""
    profiler = sys.modules.get("torch.autograd.profiler")
    return bool(profiler and profiler._is_profiler_enabled)


def at_work() -> bool:
    """Whether it is a `Trace` that starts, ends or writes what torch's profiler records now."""
    return _working > 0


give_way: Callable[[], None] | None = None  # ends what `capture run` records, for another one
_working = 0


@contextmanager
def _at_work() -> Iterator[None]:
    global _working
    _working += 1
    try:
        yield
    finally:
        _working -= 1


@contextmanager
def _quiet() -> Iterator[None]:
    """Without torch's remarks on schedules, which are made as they were asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield

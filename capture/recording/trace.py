"""Traces of torch's profiler: marking their steps and writing their files."""

from __future__ import annotations

import gzip
import json
import sys
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.output.run_directory import atomic_write
from capture.recording import graph_annotations
from capture.recording.device_time import DeviceTime
from capture.recording.experimental import config_of
from capture.recording.labels import hidden_from_tracers
from capture.recording.schedule import AnySchedule
from capture.recording.trace_size import TraceSize
from capture.sigterm import writing

if TYPE_CHECKING:
    from torch.profiler import profile, record_function


BEFORE_STEPS = "before the first step"
AFTER_STEPS = "after the last step"
BLOCK = 1 << 20  # bytes
TENTATIVE = "capture: perhaps the first step"  # the files have another label


class Trace:
    """A recording of torch's profiler, from `start` to `stop`, of the steps in the schedule.

    Each cycle's trace is written to `path(cycle)`, or to `path(None)` if there is only one. Then
    `on_ready` is called with the path and the cycle. `activities` are those of torch. Annotations
    of graph nodes go to `annotations`. `cycles` is the number of traces. `was_ended` is true if
    another profiler has ended this one, because torch runs one at a time. `overhead_ns` is the time
    between steps in which traces are started, ended and written. It can be longer than many steps.
    `steps_ns` has the Unix times at which each recorded step begins and ends. `device_time` is the
    busy time of devices.
    """

    def __init__(
        self,
        activities: Collection[Any],
        options: dict[str, Any],
        schedule: AnySchedule,
        path: Callable[[int | None], Path],
        on_ready: Callable[[Path, int | None], object],
        execution_trace: Path | None = None,
        annotations: Path | None = None,
    ) -> None:
        from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

        self.cycles = 0
        self._has_device = any(each != ProfilerActivity.CPU for each in activities)
        self.was_ended = False
        self._thread = threading.get_ident()
        self.overhead_ns = 0
        self.steps_ns: list[tuple[int, int]] = []
        self.device_time = DeviceTime()
        self._began_ns: int | None = None
        self._is_over = False
        self._schedule = schedule
        self._path = path
        self._on_ready = on_ready
        self._options = options
        self._execution_trace = execution_trace
        self._annotations = annotations
        self._observer = ExecutionTraceObserver() if execution_trace else None
        self._is_tentative = False
        self._discards = False
        self._steps = 0  # recorded steps of this cycle
        self._steps_ended = 0
        self._renamed: dict[str, str] = {}  # labels that the files replace by others
        self._steps_before = 0  # number of steps of earlier cycles in `steps_ns`
        self._mark: record_function | None = None
        self.profile = profile(
            activities=activities,
            # With acc_events, a discarded first step would remain in the events of all cycles.
            schedule=schedule.actions(whole_without_steps=not options["acc_events"]),
            on_trace_ready=self._save,
            execution_trace_observer=self._observer,
            # Torch 2.13 records no allocations if it records the operators of all threads.
            **options
            | {
                "experimental_config": config_of(
                    options["experimental_config"], all_threads=not options["profile_memory"]
                )
            },
        )
        # `mark` marks the steps, because the first one can begin with a pipeline's loop.
        self.profile.record_steps = False

    def start(self) -> None:
        """Begin to record."""
        if self._observer and self._execution_trace:
            path = self._execution_trace
            self._plain_execution_trace = path.with_name(f".{path.name}.partial.json")
            self._observer.register_callback(str(self._plain_execution_trace))
        with _quiet(), _own_call():
            self.profile.start()
        self._size = TraceSize(
            self._schedule, self._options["with_stack"], self._options["record_shapes"]
        )
        _open.add(self)

    def stop(self, keeps_step: bool = False) -> None:
        """End the recording and write its files. A second call has no effect.

        An unfinished step is not marked as a step, unless it is the only one or with `keeps_step`.
        """
        if self._is_over:
            return
        self._is_over = True
        _open.discard(self)
        if self._mark and self._steps_ended and not keeps_step:
            self._renamed[self._mark.name] = AFTER_STEPS
            self._began_ns = None
        self.unmark()
        # A further cycle contains only a step that has just begun.
        self._discards = self._steps == 0 and self.cycles > 0
        if self._still_records():
            try:
                with _own_call(), writing():
                    self.profile.stop()
                if self._annotations and self.cycles:
                    graph_annotations.write(self._annotations)
            finally:
                self._write_execution_trace()
        else:
            self._write_execution_trace()

    def _write_execution_trace(self) -> None:
        """Let torch complete its execution trace, which it writes while recording; compress it."""
        if not (self._observer and self._execution_trace):
            return
        self._observer.unregister_callback()
        plain = self._plain_execution_trace
        try:
            with atomic_write(self._execution_trace) as temporary:
                _pack(plain, temporary, self._renamed)
        finally:
            plain.unlink(missing_ok=True)

    def abandon(self) -> None:
        """Stop recording in a fork, without writing files."""
        import torch

        if not self._is_over and torch_records():
            torch._C._autograd._disable_profiler()
            torch.autograd.profiler._is_profiler_enabled = False
        if not self._is_over and self._observer:
            torch._C._profiler._disable_execution_trace_observer()
        self._is_over = True
        _open.discard(self)
        self._mark = None

    def describe_groups(self, groups: list[dict[str, Any]]) -> None:
        """Describe these process groups in the trace. Torch describes those at its start only."""
        described = getattr(self.profile, "_get_distributed_info", None)
        if described and not self._is_over and torch_records():
            job = described() | {"pg_config": groups}
            self.profile.add_metadata_json("distributedInfo", json.dumps(job))

    def mark(self, step: int, is_tentative: bool = False) -> None:
        """Begin the range that marks the step. `drop_tentative` ends a tentative one."""
        from torch.profiler import record_function

        label = f"ProfilerStep#{step}"
        self._is_tentative = is_tentative
        if is_tentative:
            self._renamed[TENTATIVE], label = label, TENTATIVE
        self._began_ns = time.time_ns() if self._schedule.records(step) else None
        with _own_call(), hidden_from_tracers():
            self._mark = record_function(label)
            self._mark.__enter__()  # type: ignore[no-untyped-call]

    def drop_tentative(self) -> None:
        """End a tentative step, which the trace shows as time before the first step."""
        if self.is_marked and self._is_tentative:
            self._renamed[TENTATIVE], self._began_ns = BEFORE_STEPS, None
            self.unmark()

    @property
    def is_marked(self) -> bool:
        """Whether a step has begun and not ended."""
        return self._mark is not None

    def unmark(self) -> None:
        """End the range, if there is one."""
        if self._mark and threading.get_ident() == self._thread:
            with _own_call(), hidden_from_tracers():
                self._mark.__exit__(None, None, None)
                self._mark = None
            if self._began_ns is not None:
                self.steps_ns.append((self._began_ns, time.time_ns()))

    def end_step(self, step: int) -> None:
        """End the step and advance the schedule."""
        self.unmark()
        if not self._still_records():
            return
        self._steps_ended += 1
        self._steps += self._schedule.records(step)
        self._size.check(step)
        began_ns = time.perf_counter_ns()
        # The first step is always recorded, in case the body has no other. Discard it if the
        # schedule does not record it.
        self._discards = step == 0 and not self._schedule.records(0)
        with _quiet(), _own_call(), writing():
            self.profile.step()
        self._discards = False
        self.overhead_ns += time.perf_counter_ns() - began_ns

    def _still_records(self) -> bool:
        """Return whether the recording goes on, i.e. no other profiler has ended it."""
        from torch.profiler import ProfilerAction

        records = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if self.profile.current_action in records:
            self.was_ended = self.was_ended or not torch_records()
        return not self.was_ended

    def _save(self, profile: profile) -> None:
        """Write a trace. Torch calls this at the end of each cycle."""
        if self._discards:
            return
        self.cycles += 1
        self._steps = 0
        cycle = self.cycles if self._schedule.numbers_cycles else None
        path = self._path(cycle)
        with atomic_write(path) as temporary:
            self._export(profile, temporary)
        if self._has_device:
            self.device_time.add(profile, self.steps_ns[self._steps_before :])
        self._steps_before = len(self.steps_ns)
        self._on_ready(path, cycle)

    def _export(self, profile: profile, path: Path) -> None:
        if path.suffix != ".gz":  # torch writes its own format for Perfetto
            profile.export_chrome_trace(str(path))
            return
        plain = path.with_suffix(".json")
        try:
            profile.export_chrome_trace(str(plain))
            _pack(plain, path, self._renamed)
        finally:
            plain.unlink(missing_ok=True)


def _pack(plain: Path, packed: Path, renamed: dict[str, str]) -> None:
    """Compress a trace, and replace the labels of some steps."""
    names = [(f'"{old}"'.encode(), f'"{new}"'.encode()) for old, new in renamed.items()]
    with plain.open("rb") as trace, gzip.open(packed, "wb", compresslevel=6) as file:
        while block := trace.read(BLOCK) + trace.readline():  # a label is within a line
            for old, new in names:
                block = block.replace(old, new)
            file.write(block)


def torch_records() -> bool:
    """Return whether a torch profiler is recording in this process."""
    profiler = sys.modules.get("torch.autograd.profiler")
    return bool(profiler and profiler._is_profiler_enabled)


def is_in_use() -> bool:
    """Return whether torch's profiler records, or a `Trace` is open and may record again."""
    return bool(_open) or torch_records()


def forked() -> None:
    """Forget the traces of the parent in a fork."""
    _open.clear()


def in_own_call() -> bool:
    """Return whether a `Trace` is calling torch's profiler now."""
    return _working > 0


# Ends the recording of `capture run`, so that another profiler can start.
give_way: Callable[[], None] | None = None
_open: set[Trace] = set()  # started and not stopped
_working = 0


@contextmanager
def _own_call() -> Iterator[None]:
    global _working
    _working += 1
    try:
        yield
    finally:
        _working -= 1


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence torch's warnings about schedules."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield

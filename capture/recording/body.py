"""One body of code that a profiler records, from its preparation to its files."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture import wakeup
from capture.device import default_device, synchronize
from capture.errors import CaptureError, warn
from capture.output import calibration, run_directory
from capture.output.processes import note_run
from capture.output.ranks import Job, current_job, rank
from capture.output.run_json import described
from capture.recording import compilation, cuspy
from capture.recording.activities import accelerators
from capture.recording.flight_recorder import FlightRecorder
from capture.recording.labels import valid_labels
from capture.recording.memory import NO_DEVICE, MemoryHistory, MemoryTracker
from capture.recording.trace import Trace
from capture.recording.wall_clock import WallClock
from capture.sigterm import Stopped

if TYPE_CHECKING:
    from torch.profiler import ProfilerActivity

    from capture.recording.profiler import Profiler


class Body:
    """The recording of one body in this process, as `profiler` configures it.

    The allocator's history begins at construction, all other recording with `begin`. `files` are
    the paths to write, `steps` is the number of completed steps, and `run` is the content of
    run.json.
    """

    def __init__(self, profiler: Profiler) -> None:
        self._child = profiler.child
        process = self._child.label if self._child else f"rank{rank()}"
        directory = run_directory.choose(profiler.wanted_dir, profiler.name, process)
        self.files = run_directory.Files(directory, profiler.name, process)
        self.began = False
        self.steps = 0
        self.trace: Trace | None = None
        self.trace_path: Path | None = None
        self.memory_path: Path | None = None
        self.run: dict[str, Any] = {}
        self._profiler = profiler
        self._job: Job | None = None
        self._device = default_device()
        self._records = False
        self._is_in_step = False  # still set at the end if an error interrupted a denoising step
        self._step_times_ns: list[int] = []
        self._step_starts_ns: list[int] = []  # Unix time
        self._missing: dict[str, str] = {}
        self._flight_recorder = FlightRecorder(self.files)
        self._history = self._start_history()

    @property
    def has_history(self) -> bool:
        """Whether the allocator's history is recorded."""
        return self._history is not None

    def begin(self, with_trace: bool, with_step: bool, is_tentative: bool) -> None:
        """Begin recording; with a trace and `with_step`, also begin the first step.

        A first step that is tentative does not count if a denoising step follows.
        """
        compilation.remember_all()
        with ExitStack() as around:  # closed in reverse order: the trace first
            if self._history:
                around.callback(self._history.stop)
            around.enter_context(valid_labels())
            self._recorded = self._activities()
            synchronize(self._device)
            self.trace = self._start_trace() if with_trace else None
            around.callback(self.end_trace)
            self._around = around.pop_all()
        self._tracker = MemoryTracker()
        self._tracker.__enter__()
        self.began, self._records = True, with_trace
        self._owner = _process_and_thread()
        self.note_job()
        wakeup.last_words = self._say_what_it_waits_for
        self._began_ns = time.time_ns()
        self._started_ns = self._step_began_ns = time.perf_counter_ns()
        if with_trace and with_step:
            self.begin_step(is_tentative)

    def begin_step(self, is_tentative: bool = False) -> None:
        """Mark the beginning of a step."""
        if self.trace:
            self.trace.mark(self.steps, is_tentative)
        self._step_began_ns = time.perf_counter_ns()

    def end_step(self) -> None:
        """Mark the end of a step and advance the schedule."""
        time_ns = time.perf_counter_ns() - self._step_began_ns
        self.note_job()
        self._step_times_ns.append(time_ns)
        self._step_starts_ns.append(time.time_ns() - time_ns)
        if self.trace:
            self.trace.end_step(self.steps)
        self.steps += 1

    @contextmanager
    def denoising_step(self) -> Iterator[None]:
        """Record the body as a step. A step that is already open ends first."""
        if self.trace:
            self.trace.drop_tentative()
        if self.trace and self.trace.is_marked:
            self.end_step()
        self.begin_step()
        self._is_in_step = True
        try:
            yield
            self._is_in_step = False
        finally:
            if self.is_ours():
                self.end_step()

    def is_ours(self) -> bool:
        """Return whether this is the process and thread whose steps are recorded."""
        return self._records and _process_and_thread() == self._owner

    def is_of_parent(self) -> bool:
        """Return whether this process is a fork of the recorded process."""
        return self.began and _process_and_thread()[0] != self._owner[0]

    def end_trace(self) -> None:
        """End and write the trace, and ignore further steps."""
        self._records = False
        self.note_job()
        if self.trace:
            self.trace.stop(keeps_step=self._is_in_step)

    def abandon(self) -> None:
        """Abandon the recording in a fork, without writing files."""
        self._records = False
        if self.trace:
            self.trace.abandon()
        with suppress(Exception):  # a fork may be unable to use the device
            self._around.close()

    def finish(self, error: BaseException | None) -> None:
        """End the recording and write its files. `error` is the error that ended the body."""
        self._records = False
        self._is_in_step = self._is_in_step or error is not None
        self.note_job()
        device_error: Exception | None = None
        with self._around:
            try:
                if error is None:
                    synchronize(self._device)
            except Exception as late:  # device errors appear at synchronization
                error = device_error = late
            ended_ns = time.time_ns()
            wall_time_ns = time.perf_counter_ns() - self._started_ns
            wall_time_ns -= self.trace.overhead_ns if self.trace else 0
            self._tracker.__exit__()
            self._dump_history(error)
        if self.trace and self.trace.was_ended:
            self._note_missing(
                "trace", "another torch profiler ran inside this one and ended the recording"
            )
        elif self.trace and not self.trace.cycles:
            self._note_missing(
                "trace", f"the schedule records none of the {self.steps} steps of the body"
            )
        self._note_dump(self._flight_recorder.dump_end(has_failed=error is not None))
        self._save_compile_log()
        self._describe(error, wall_time_ns, ended_ns)
        note_run(self.files.directory)
        if device_error:
            raise device_error

    def _describe(self, error: BaseException | None, wall_time_ns: int, ended_ns: int) -> None:
        self.run = self._described(error, wall_time_ns, ended_ns)
        run_directory.write_json(self.files.description, self.run)
        if self.files.process == "rank0":
            run_directory.write_json(self.files.directory / "run.json", self.run)

    def _described(
        self, error: BaseException | None, wall_time_ns: int, ended_ns: int
    ) -> dict[str, Any]:
        steps_ns = self.trace.steps_ns if self.trace else []
        compiled = compilation.summary(steps_ns or [(self._began_ns, ended_ns)])
        measured = {
            "name": self.files.name,
            "process": self._child and self._child.name,
            "rank": self._job.rank if self._job else None if self._child else 0,
            "world_size": self._job.size if self._job else 1,
            "started_at": datetime.fromtimestamp(self._began_ns / 1e9, UTC).isoformat(),
            "profiled_wall_time_ns": wall_time_ns,
            "profiled_step_times_ns": self._step_times_ns,
            "warmup_steps": self._warmup_steps(compiled),
            "profiler": {
                "activities": sorted(self._recorded),
                **self._profiler.options,
                **({} if self._profiler.cuspy is None else {"cuspy": self._profiler.cuspy}),
                **self._profiler.schedule.description,
            },
            "device_time": (self.trace and self.trace.device_time.summary()) or None,
            "memory": self._tracker.peaks,
            "compilation": compiled,
            "calibration": self._calibration(),
            "error": error and f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": "),
        }
        facts = self._profiler.facts
        facts = facts | {"missing": self._missing | facts.get("missing", {})}
        return described(measured, self._device, facts)

    def _calibration(self) -> dict[str, Any] | None:
        try:
            return calibration.of_run(self.files.directory, self._device)
        except CaptureError as error:
            self._note_missing("calibration", str(error))
            return None

    def note_job(self) -> None:
        """Remember the job and its groups, because a program can leave it before it ends."""
        self._job = current_job(self._child.inherited_rank if self._child else None) or self._job
        groups = self._flight_recorder.note_groups()
        if groups and self.trace:
            self.trace.describe_groups(groups)

    def _warmup_steps(self, compiled: dict[str, Any] | None) -> int | None:
        """Return the number of steps that began before the last compilation, or None for zero."""
        started = [c["started_at_ns"] for c in compiled["compilations"]] if compiled else []
        last_ns = max(started, default=0)
        return sum(start_ns < last_ns for start_ns in self._step_starts_ns) or None

    def _activities(self) -> set[str]:
        """Return the requested activities that this machine supports."""
        requested = self._profiler.activities
        wanted = {"CPU", "GPU"} if requested is None else set(requested)
        if "GPU" in wanted and not accelerators():
            if requested:
                self._note_missing(
                    "gpu", "torch finds no accelerator to profile, so only the CPU is profiled"
                )
            wanted = wanted - {"GPU"} | {"CPU"}
        return wanted - {"MEM"} | ({"MEM"} if self._history else set())

    def _start_trace(self) -> Trace | None:
        from torch.profiler import ProfilerActivity

        kinds = {"CPU": {ProfilerActivity.CPU}, "GPU": accelerators(), "MEM": set()}
        activities = set().union(*(kinds[activity] for activity in self._recorded))
        if not activities:
            return None
        profiler = self._profiler
        trace = Trace(
            self._with_cuspy(activities),
            profiler.options,
            profiler.schedule,
            partial(self.files.trace, suffix=profiler.trace_suffix),
            self._written,
            self.files.execution_trace if profiler.execution_trace else None,
            self.files.graph_annotations,
        )
        self._wall_clock = WallClock()
        trace.start()
        return trace

    def _with_cuspy(self, activities: set[ProfilerActivity]) -> Collection[Any]:
        """Return torch's activities, with CUDA recorded by Cuspy if that is requested."""
        from torch.profiler import ProfilerActivity

        settings = self._profiler.cuspy
        if settings is None:
            return activities
        reason = cuspy.missing() if ProfilerActivity.CUDA in activities else cuspy.NO_CUDA
        if reason:
            self._note_missing("cuspy", reason)
            return activities
        return [*activities - {ProfilerActivity.CUDA}, cuspy.activity(settings)]

    def _written(self, path: Path, cycle: int | None) -> None:
        self.trace_path = path
        if change := self._wall_clock.change():
            self._note_missing("steady_clock", change)
        self.note_job()
        self._note_dump(self._flight_recorder.dump_trace(cycle))
        self._profiler.trace_is_written()

    def _start_history(self) -> MemoryHistory | None:
        if "MEM" not in (self._profiler.activities or ()):
            return None
        if not MemoryHistory.available():
            self._note_missing("memory_snapshot", NO_DEVICE)
            return None
        return MemoryHistory(self._profiler.max_memory_entries, self.files.snapshot)

    def _dump_history(self, error: BaseException | None) -> None:
        """Write the snapshot. This precedes the trace, whose writing may fail without memory."""
        if not self._history:
            return
        try:
            # If memory ran out, the snapshot was written then.
            if not (error and self._history.ran_out):
                self._history.dump()
            self.memory_path = self.files.snapshot
        except Exception as failure:
            self._note_missing(
                "memory_snapshot", f"the memory snapshot could not be written: {failure}"
            )

    def _save_compile_log(self) -> None:
        if not compilation.has_compiled():
            return
        try:
            if not compilation.save_log(self.files.compile_log):
                self._note_missing("compile_log", compilation.TOO_LATE)
        except Exception as error:
            self._note_missing("compile_log", f"the compile log could not be copied: {error}")

    def _say_what_it_waits_for(self, is_end: bool) -> None:
        """Write the collectives of a process whose main thread cannot end the recording.

        Describe traces that are on disk. Without a description, files get no rank in their names.
        """
        if not self._job or self.is_of_parent():
            return
        process = self.files.process if self.trace_path else f"rank{self._job.rank}"
        is_stuck = self._flight_recorder.dump_stuck(process, is_end)
        if self.trace_path and (is_stuck or is_end):
            wall_time_ns = time.perf_counter_ns() - self._started_ns
            self._describe(Stopped("in C++ code"), wall_time_ns, time.time_ns())

    def _note_dump(self, missing: str | None) -> None:
        if missing and "flight_recorder" not in self._missing:
            self._note_missing("flight_recorder", missing)

    def _note_missing(self, key: str, reason: str) -> None:
        self._missing[key] = reason
        warn(reason)


def _process_and_thread() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()

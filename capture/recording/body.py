"""One body that a profiler records: from its preparation to its files."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture.device import default_device, synchronize
from capture.errors import warn
from capture.output import run_directory
from capture.output.ranks import Job, current_job, rank
from capture.output.run_json import described
from capture.recording import compilation
from capture.recording.activities import accelerators
from capture.recording.labels import valid_labels
from capture.recording.memory import NO_DEVICE, MemoryHistory, MemoryTracker
from capture.recording.trace import Trace

if TYPE_CHECKING:
    from capture.recording.profiler import Profiler


class Body:
    """Records what `profiler` asks for, of this process.

    The allocator's history begins at once, all else with `begin`. `files` are where it writes,
    `steps` counts those made, and `run` is what run.json says.
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
        self._is_in_step = False  # in one whose end was awaited, as an error shows
        self._step_times_ns: list[int] = []
        self._step_starts_ns: list[int] = []  # Unix time
        self._missing: dict[str, str] = {}
        self._history = self._start_history()

    @property
    def has_history(self) -> bool:
        """Whether the allocator's history is kept."""
        return self._history is not None

    def begin(self, with_trace: bool, with_step: bool) -> None:
        """Begins to record, and with a trace also the first step, if it is wanted."""
        compilation.remember_all()
        with ExitStack() as around:  # ended in the reverse order: the trace first
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
        self._place = _place()
        self._note_job()
        self._began_ns = time.time_ns()
        self._started_ns = self._step_began_ns = time.perf_counter_ns()
        if with_trace and with_step:
            self.begin_step()

    def begin_step(self) -> None:
        """Marks the begin of a step."""
        if self.trace:
            self.trace.mark(self.steps)
        self._step_began_ns = time.perf_counter_ns()

    def end_step(self) -> None:
        """Marks its end, and moves on in the schedule."""
        time_ns = time.perf_counter_ns() - self._step_began_ns
        self._note_job()
        self._step_times_ns.append(time_ns)
        self._step_starts_ns.append(time.time_ns() - time_ns)
        if self.trace:
            self.trace.end_step(self.steps)
        self.steps += 1

    @contextmanager
    def denoising_step(self) -> Iterator[None]:
        """The body is a step; one that began before the pipeline's loop ends with its begin."""
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
        """Whether this is the process and the thread whose steps are recorded."""
        return self._records and _place() == self._place

    def is_of_parent(self) -> bool:
        """Whether this process is a fork of the one that is recorded."""
        return self.began and _place()[0] != self._place[0]

    def end_trace(self) -> None:
        """Ends and writes the trace, and takes no more steps."""
        self._records = False
        if self.trace:
            self.trace.stop(keeps_step=self._is_in_step)

    def abandon(self) -> None:
        """In a fork: writes nothing."""
        self._records = False
        if self.trace:
            self.trace.abandon()
        with suppress(Exception):  # the device can be out of reach
            self._around.close()

    def finish(self, error: BaseException | None) -> None:
        """Ends the recording, which `error` may have ended, and writes what there is."""
        self._records = False
        self._is_in_step = self._is_in_step or error is not None
        self._note_job()
        device_error: Exception | None = None
        with self._around:
            try:
                if error is None:
                    synchronize(self._device)
            except Exception as late:  # what the device failed at shows when it is waited for
                error = device_error = late
            ended_ns = time.time_ns()
            wall_time_ns = time.perf_counter_ns() - self._started_ns
            wall_time_ns -= self.trace.aside_ns if self.trace else 0
            self._tracker.__exit__()
            self._dump_history(error)
        if self.trace and self.trace.was_ended:
            self._lack("trace", "another torch profiler ran inside, and ended this recording")
        elif self.trace and not self.trace.cycles:
            self._lack("trace", f"the schedule records none of the {self.steps} steps made")
        self._save_compile_log()
        self.run = self._described(error, wall_time_ns, ended_ns)
        run_directory.write_json(self.files.description, self.run)
        if self.files.process == "rank0":
            run_directory.write_json(self.files.directory / "run.json", self.run)
        if device_error:
            raise device_error

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
                **self._profiler.schedule.description,
            },
            "device_time": (self.trace and self.trace.device_time.summary()) or None,
            "memory": self._tracker.peaks,
            "compilation": compiled,
            "error": error and f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": "),
        }
        facts = self._profiler.facts
        said = facts | {"missing": self._missing | facts.get("missing", {})}
        return described(measured, self._device, said)

    def _note_job(self) -> None:
        """A program can leave its job before its end."""
        self._job = current_job(self._child.inherited_rank if self._child else None) or self._job

    def _warmup_steps(self, compiled: dict[str, Any] | None) -> int | None:
        """How many steps began before the last compilation did; None for none."""
        started = [c["started_at_ns"] for c in compiled["compilations"]] if compiled else []
        last_ns = max(started, default=0)
        return sum(start_ns < last_ns for start_ns in self._step_starts_ns) or None

    def _activities(self) -> set[str]:
        """The activities that are recorded: those asked for, as far as this machine has them."""
        asked = self._profiler.activities
        wanted = {"CPU", "GPU"} if asked is None else set(asked)
        if "GPU" in wanted and not accelerators():
            if asked:
                self._lack("gpu", "torch finds no accelerator to profile: only the CPU is profiled")
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
            activities,
            profiler.options,
            profiler.schedule,
            self.files.trace,
            self._written,
            self.files.execution_trace if profiler.execution_trace else None,
        )
        trace.start()
        return trace

    def _written(self, path: Path) -> None:
        self.trace_path = path
        self._profiler.trace_is_written()

    def _start_history(self) -> MemoryHistory | None:
        if "MEM" not in (self._profiler.activities or ()):
            return None
        if not MemoryHistory.available():
            self._lack("memory_snapshot", NO_DEVICE)
            return None
        return MemoryHistory(self._profiler.max_memory_entries, self.files.snapshot)

    def _dump_history(self, error: BaseException | None) -> None:
        """Before the trace is written: after an OutOfMemoryError, little can be done."""
        if not self._history:
            return
        try:
            if not (error and self._history.ran_out):  # else it was written then
                self._history.dump()
            self.memory_path = self.files.snapshot
        except Exception as failure:
            self._lack("memory_snapshot", f"the snapshot could not be written: {failure}")

    def _save_compile_log(self) -> None:
        if not compilation.happened():
            return
        try:
            if not compilation.save_log(self.files.compile_log):
                self._lack("compile_log", compilation.TOO_LATE)
        except Exception as error:
            self._lack("compile_log", f"the log could not be copied: {error}")

    def _lack(self, what: str, why: str) -> None:
        self._missing[what] = why
        warn(why)


def _place() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()

"""`Profiler`: records the body of a `with` into a run directory."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from capture.device import default_device, synchronize
from capture.errors import CaptureError, warn
from capture.output import run_directory
from capture.output.processes import Child
from capture.output.ranks import rank, world_size
from capture.output.run_json import described
from capture.recording import compilation, trace
from capture.recording.activities import accelerators, named
from capture.recording.denoising import PIPELINE_MODULE, denoising_steps
from capture.recording.labels import valid_labels
from capture.recording.memory import NO_DEVICE, MemoryHistory, MemoryTracker
from capture.recording.schedule import Schedule
from capture.recording.trace import Trace, torch_records

if TYPE_CHECKING:
    import torch

MAX_MEMORY_ENTRIES = 100_000


class Profiler:
    """Records the body: traces, a memory snapshot, and what a trace cannot say, in `run.json`.

    enabled             False: the body runs as it would without, and nothing is written
    activities          of `CPU`, `GPU` and `MEM`; None: CPU and what accelerator there is. `MEM`
                        records the CUDA allocator's history; it works alone, and the snapshot is
                        written when the body fails, too
    output_dir          the run directory (see `capture.output.run_directory.choose`)
    name                of the run and its files; the script's where there is none
    with_stack          record Python frames: torch holds about a byte of memory for each byte of
                        JSON, and to write it, eight
    record_shapes       record the operators' inputs
    profile_memory      record the operators' allocations
    with_flops          let `key_averages()` count floating point operations
    with_modules        record TorchScript modules
    skip_first, wait, warmup, active, repeat
                        which steps to record (see `capture.recording.schedule.Schedule`);
                        without `active`, or where there are no steps, all
    on_trace_ready      called with this after each trace is written
    max_memory_entries  actions that the allocator's history keeps
    hook_pipelines      take each denoising step of a diffusers pipeline in the body for a step;
                        such steps begin with a pipeline's loop, so where diffusers is loaded, a
                        body that calls `step()` itself has its first step marked only with False

    `began` says whether a body was recorded, `step_num` how many steps it has made. After it,
    `output_dir` is the run directory, `trace_path` the last trace, and `run` what run.json says.
    What is asked for and cannot be had here is a CaptureWarning, and stands there under `missing`.
    Raises CaptureError without torch, or where files cannot be written; after an error of the
    body, which goes through, that is a warning.
    """

    def __init__(
        self,
        enabled: bool = True,
        activities: Iterable[str] | None = None,
        output_dir: str | Path | None = None,
        name: str | None = None,
        *,
        with_stack: bool = False,
        record_shapes: bool = True,
        profile_memory: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        skip_first: int = 0,
        wait: int = 0,
        warmup: int = 0,
        active: int | None = None,
        repeat: int = 1,
        on_trace_ready: Callable[[Profiler], object] | None = None,
        max_memory_entries: int = MAX_MEMORY_ENTRIES,
        hook_pipelines: bool = True,
    ) -> None:
        self.enabled = enabled
        self.activities = None if activities is None else named(activities)
        self.output_dir = Path(output_dir) if output_dir else None
        self.name = run_directory.file_name(name)
        self.options: dict[str, Any] = {
            "with_stack": with_stack,
            "record_shapes": record_shapes,
            "profile_memory": profile_memory,
            "with_flops": with_flops,
            "with_modules": with_modules,
        }
        self.schedule = Schedule(skip_first, wait, warmup, active, repeat)
        self.began = False
        self.run: dict[str, Any] = {}
        self.process = ""
        self.step_num = 0
        self.trace_path: Path | None = None
        self.memory_path: Path | None = None
        self._wanted_dir = output_dir
        self._on_trace_ready = on_trace_ready
        self._max_memory_entries = max_memory_entries
        self._hook_pipelines = hook_pipelines
        self._facts: dict[str, Any] = {}
        self._missing: dict[str, str] = {}
        self._is_prepared = False
        self._step_times_ns: list[int] = []
        self._step_starts_ns: list[int] = []  # Unix time
        self._trace: Trace | None = None
        self._recording = False
        self._callback_error: Exception | None = None

    def describe(self, **facts: Any) -> None:
        """Adds to what `run.json` will say, e.g. `model="flux"`; see `capture.output.run_json`."""
        self._facts |= facts

    def step(self) -> None:
        """Tells that a step has ended and the next one begins; nothing outside of the body."""
        if self._is_ours():
            self._end_step()
            self._begin_step()

    def key_averages(self, *args: Any, **kwargs: Any) -> Any:
        """The same as of torch's profiler, of the last trace. Raises CaptureError without one."""
        return self._last_trace().key_averages(*args, **kwargs)

    def export_chrome_trace(self, path: str, **_: Any) -> None:
        """Copies the last trace, packed if `path` ends in .gz: for callbacks made for torch's."""
        self._last_trace()
        assert self.trace_path
        opened = open if path.endswith(".gz") else gzip.open
        with opened(self.trace_path, "rb") as trace, open(path, "wb") as copy:
            shutil.copyfileobj(trace, copy)

    def __enter__(self) -> Profiler:
        self.begin()
        return self

    def begin(self, with_trace: bool = True, child: Child | None = None) -> None:
        """Begins the body, as `with` does. Without a trace, only `run.json` is recorded.

        `child` names this process where a program that is profiled has started it.
        """
        if not self.enabled:
            return
        if with_trace and torch_records() and trace.give_way:
            trace.give_way()
        if with_trace and torch_records():
            raise CaptureError("a profiler is recording already: torch can only run one at a time")
        if not self._is_prepared:
            self._prepare(child)
        self.step_num, self._step_times_ns, self._step_starts_ns = 0, [], []
        self.trace_path = self.memory_path = self._callback_error = None
        compilation.remember_all()
        with ExitStack() as around:  # ended in the reverse order: the trace first
            if self._history:
                around.callback(self._history.stop)
            around.enter_context(valid_labels())
            if self._hook_pipelines:
                around.enter_context(denoising_steps(self._a_step))
            self._recorded = self._activities()
            synchronize(self._device)
            self._trace = self._start_trace() if with_trace else None
            if self._trace:
                around.callback(self._trace.stop)
            self._around = around.pop_all()
        self._tracker = MemoryTracker()
        self._tracker.__enter__()
        self.began, self._recording = True, with_trace
        self._hooks_pipelines = self._hook_pipelines and PIPELINE_MODULE in sys.modules
        self._place = _place()
        self._began_ns = time.time_ns()
        self._started_ns = self._step_began_ns = time.perf_counter_ns()
        # Steps of a pipeline begin with its loop: what comes before is none.
        if with_trace and not self._hooks_pipelines:
            self._begin_step()

    def remember_memory(self) -> None:
        """Begins the allocator's history before the body, if `MEM` is asked for."""
        if self.enabled and "MEM" in (self.activities or ()) and not self._is_prepared:
            self._prepare(None)

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Around what precedes the body, and the body: with `MEM`, the weights have stacks, too.

        Where it fails before the body, there are the snapshot and a `run.json`.
        """
        self.remember_memory()
        try:
            yield
        except BaseException as error:
            if self._is_prepared and self._history:
                self.begin(with_trace=False)
                self.__exit__(type(error), error, None)
            raise

    def _prepare(self, child: Child | None) -> None:
        """Chooses where the files go, and begins the allocator's history."""
        self._is_prepared = True
        self._child, self._device, self._missing = child, default_device(), {}
        self.process = child.label if child else f"rank{rank()}"
        self.output_dir = run_directory.choose(self._wanted_dir, self.name, self.process)
        self._history = self._start_history()

    def hook_pipelines(self) -> None:
        """Takes denoising steps for steps, where diffusers was imported after the body began."""
        if self._recording and self._hook_pipelines and not self._hooks_pipelines:
            self._hooks_pipelines = True
            self._around.enter_context(denoising_steps(self._a_step))

    def end_step(self) -> None:
        """Tells that a step has ended, and none begins."""
        if self._is_ours():
            self._end_step()

    def end_trace(self) -> None:
        """Ends and writes the trace, and takes no more steps; the body goes on."""
        self._recording = False
        if self._trace:
            self._trace.stop()

    def abandon(self) -> None:
        """In a fork: leaves the body to the parent process, without writing anything."""
        if self._trace:
            self._trace.abandon()
        self._recording = False
        with suppress(Exception):  # the device can be out of reach
            self._around.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.enabled or _place()[0] != self._place[0]:  # a fork leaves the parent's body
            return
        self._recording = False
        if isinstance(error, SystemExit) and not error.code:
            error = None  # a script that is through
        try:
            self._finish(error)
        except Exception as failure:
            if error is None:
                raise
            warn(f"the profile could not be written: {failure}")
        if self._callback_error and error is None:
            raise self._callback_error

    def _finish(self, error: BaseException | None) -> None:
        assert self.output_dir
        device_error: Exception | None = None
        self._is_prepared = False
        with self._around:
            try:
                if error is None:
                    synchronize(self._device)
            except Exception as late:  # what the device failed at shows when it is waited for
                error = device_error = late
            ended_ns = time.time_ns()
            wall_time_ns = time.perf_counter_ns() - self._started_ns
            wall_time_ns -= self._trace.aside_ns if self._trace else 0
            self._tracker.__exit__()
            self._dump_history(error)
        if self._trace and self._trace.was_ended:
            self._lack("trace", "another torch profiler ran inside, and ended this recording")
        elif self._trace and not self._trace.cycles:
            self._lack("trace", f"the schedule records none of the {self.step_num} steps made")
        self._save_compile_log()
        steps_ns = self._trace.steps_ns if self._trace else []
        compiled = compilation.summary(steps_ns or [(self._began_ns, ended_ns)])
        measured = {
            "name": self.name,
            "process": self._child and self._child.name,
            "rank": self._child.rank if self._child else rank(),
            "world_size": world_size(),
            "started_at": datetime.fromtimestamp(self._began_ns / 1e9, UTC).isoformat(),
            "profiled_wall_time_ns": wall_time_ns,
            "profiled_step_times_ns": self._step_times_ns,
            "warmup_steps": self._warmup_steps(compiled),
            "profiler": {
                "activities": sorted(self._recorded),
                **self.options,
                **vars(self.schedule),
            },
            "device_time": (self._trace and self._trace.device_time.summary()) or None,
            "memory": self._tracker.peaks,
            "compilation": compiled,
            "error": error and f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": "),
        }
        said = self._facts | {"missing": self._missing | self._facts.get("missing", {})}
        self.run = described(measured, self._device, said)
        run_directory.write_json(
            run_directory.process_path(self.output_dir, self.process), self.run
        )
        if self.process == "rank0":
            run_directory.write_json(self.output_dir / "run.json", self.run)
        if device_error:
            raise device_error

    def _activities(self) -> set[str]:
        """What is recorded, of what was asked for."""
        wanted = {"CPU", "GPU"} if self.activities is None else set(self.activities)
        if "GPU" in wanted and not accelerators():
            if self.activities:
                self._lack("gpu", "torch finds no accelerator to profile: only the CPU is profiled")
            wanted = wanted - {"GPU"} | {"CPU"}
        return wanted - {"MEM"} | ({"MEM"} if self._history else set())

    def _start_trace(self) -> Trace | None:
        from torch.profiler import ProfilerActivity

        kinds = {"CPU": {ProfilerActivity.CPU}, "GPU": accelerators(), "MEM": set()}
        activities = set().union(*(kinds[activity] for activity in self._recorded))
        if not activities:
            return None
        trace = Trace(activities, self.options, self.schedule, self._path, self._written)
        trace.start()
        return trace

    def _path(self, cycle: int | None) -> Path:
        assert self.output_dir
        return run_directory.trace_path(self.output_dir, self.name, self.process, cycle)

    def _written(self, path: Path) -> None:
        self.trace_path = path
        if self._on_trace_ready:
            try:
                self._on_trace_ready(self)
            except Exception as error:  # raised once the files are written
                self._callback_error = error

    def _last_trace(self) -> torch.profiler.profile:
        if not (self._trace and self._trace.cycles):
            raise CaptureError("there is no trace")
        return self._trace.profile

    def _begin_step(self) -> None:
        if self._trace:
            self._trace.mark(self.step_num)
        self._step_began_ns = time.perf_counter_ns()

    def _end_step(self) -> None:
        time_ns = time.perf_counter_ns() - self._step_began_ns
        self._step_times_ns.append(time_ns)
        self._step_starts_ns.append(time.time_ns() - time_ns)
        if self._trace:
            self._trace.end_step(self.step_num)
        self.step_num += 1

    def _warmup_steps(self, compiled: dict[str, Any] | None) -> int | None:
        """How many steps began before the last compilation did; None for none."""
        started = [c["started_at_ns"] for c in compiled["compilations"]] if compiled else []
        last_ns = max(started, default=0)
        return sum(start_ns < last_ns for start_ns in self._step_starts_ns) or None

    @contextmanager
    def _a_step(self) -> Iterator[None]:
        """One denoising step of a pipeline; one that fails is not a step."""
        if not self._is_ours():
            yield
            return
        if self._trace and self._trace.is_marked:
            self._end_step()  # one that began before the pipeline
        self._begin_step()
        try:
            yield
        finally:
            if self._is_ours():
                self._end_step()

    def _is_ours(self) -> bool:
        """Whether this is the process and the thread that is recorded."""
        return self._recording and _place() == self._place

    def _start_history(self) -> MemoryHistory | None:
        if "MEM" not in (self.activities or ()):
            return None
        if not MemoryHistory.available():
            self._lack("memory_snapshot", NO_DEVICE)
            return None
        assert self.output_dir
        path = run_directory.memory_path(self.output_dir, self.name, self.process)
        return MemoryHistory(self._max_memory_entries, path)

    def _dump_history(self, error: BaseException | None) -> None:
        """Before the trace is written: after an OutOfMemoryError, little can be done."""
        if not self._history:
            return
        try:
            if not (error and self._history.ran_out):  # else there is that of the moment
                self._history.dump()
            self.memory_path = self._history.path
        except Exception as failure:
            self._lack("memory_snapshot", f"the snapshot could not be written: {failure}")

    def _save_compile_log(self) -> None:
        assert self.output_dir
        if not compilation.happened():
            return
        path = run_directory.compile_log_path(self.output_dir, self.name, self.process)
        try:
            if not compilation.save_log(path):
                self._lack("compile_log", compilation.TOO_LATE)
        except Exception as error:
            self._lack("compile_log", f"the log could not be copied: {error}")

    def _lack(self, what: str, why: str) -> None:
        self._missing[what] = why
        warn(why)


def _place() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()

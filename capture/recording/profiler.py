"""`Profiler`: records the body of a `with` into a run directory."""

from __future__ import annotations

import gzip
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

from capture.errors import CaptureError, warn
from capture.output import run_directory
from capture.output.processes import Child
from capture.recording import trace
from capture.recording.activities import named
from capture.recording.body import Body
from capture.recording.denoising import PIPELINE_MODULE, denoising_steps
from capture.recording.schedule import AnySchedule, OwnSchedule, Schedule
from capture.recording.stages import Stages
from capture.recording.trace import torch_records

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
    acc_events          let `key_averages()` count the events of all cycles, not of the last alone
    experimental_config torch's experimental options, by their names: `{"verbose": True}` gives the
                        operators the stacks that `key_averages(group_by_stack_n=…)` needs
    execution_trace     also record what went into each operator and came out of it, as torch's
                        `ExecutionTraceObserver` does
    schedule            a schedule as torch has it, instead of the numbers that follow: a function
                        from a step to a `ProfilerAction`
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
        acc_events: bool = False,
        experimental_config: Mapping[str, Any] | None = None,
        execution_trace: bool = False,
        schedule: Callable[[int], Any] | None = None,
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
        self.name = run_directory.file_name(name)
        self.options: dict[str, Any] = {
            "with_stack": with_stack,
            "record_shapes": record_shapes,
            "profile_memory": profile_memory,
            "with_flops": with_flops,
            "with_modules": with_modules,
            "acc_events": acc_events,
            "experimental_config": dict(experimental_config or {}),
        }
        if acc_events and with_stack:
            raise CaptureError(
                "acc_events and with_stack: torch can crash when it reads Python frames at the end "
                "of each cycle; ask for one of them"
            )
        self.execution_trace = execution_trace
        numbers = Schedule(skip_first, wait, warmup, active, repeat)
        if schedule and numbers != Schedule():
            raise CaptureError("a schedule, or the numbers of one: not both")
        self.schedule: AnySchedule = OwnSchedule(schedule) if schedule else numbers
        self.max_memory_entries = max_memory_entries
        self.wanted_dir = output_dir
        self.facts: dict[str, Any] = {}
        self.child: Child | None = None  # this process, where a program that is profiled started it
        self._on_trace_ready = on_trace_ready
        self._callback_error: Exception | None = None
        self._body: Body | None = None
        self._hook_pipelines = hook_pipelines
        self._marks_pipelines = False
        self._before_pipeline: Callable[[], None] | None = None
        self._pipelines = ExitStack()

    @property
    def began(self) -> bool:
        """Whether a body has begun."""
        return self._body is not None and self._body.began

    @property
    def files(self) -> run_directory.Files:
        """The files of this process; only once a body has begun."""
        assert self._body
        return self._body.files

    @property
    def output_dir(self) -> Path | None:
        """The run directory. Before a body begins, the directory that was asked for."""
        if self._body:
            return self._body.files.directory
        return Path(self.wanted_dir) if self.wanted_dir else None

    @property
    def step_num(self) -> int:
        """How many steps the body has made."""
        return self._body.steps if self._body else 0

    @property
    def trace_path(self) -> Path | None:
        """The last trace."""
        return self._body.trace_path if self._body else None

    @property
    def memory_path(self) -> Path | None:
        """The memory snapshot."""
        return self._body.memory_path if self._body else None

    @property
    def run(self) -> dict[str, Any]:
        """What run.json says."""
        return self._body.run if self._body else {}

    def describe(self, **facts: Any) -> None:
        """Adds to what `run.json` will say, e.g. `model="flux"`; see `capture.output.run_json`."""
        self.facts |= facts

    def step(self) -> None:
        """Tells that a step has ended and the next one begins; nothing outside of the body."""
        if self._body and self._body.is_ours():
            self._body.end_step()
            self._body.begin_step()

    def end_step(self) -> None:
        """Tells that a step has ended, and none begins."""
        if self._body and self._body.is_ours():
            self._body.end_step()

    def key_averages(self, *args: Any, **kwargs: Any) -> Any:
        """The same as of torch's profiler, of the last trace. Raises CaptureError without one."""
        return self._with_trace().profile.key_averages(*args, **kwargs)

    def export_chrome_trace(self, path: str, **_: Any) -> None:
        """Copies the last trace, packed if `path` ends in .gz: for callbacks made for torch's."""
        self._with_trace()
        assert self.trace_path
        opened = open if path.endswith(".gz") else gzip.open
        with opened(self.trace_path, "rb") as trace, open(path, "wb") as copy:
            shutil.copyfileobj(trace, copy)

    def __enter__(self) -> Profiler:
        self.begin()
        return self

    def begin(self, with_trace: bool = True) -> None:
        """Begins the body, as `with` does. Without a trace, only `run.json` is recorded."""
        if not self.enabled:
            return
        if with_trace and torch_records() and trace.give_way:
            trace.give_way()
        if with_trace and torch_records():
            raise CaptureError("a profiler is recording already: torch can only run one at a time")
        if not self._body or self._body.began:
            self._body = Body(self)
        self._callback_error = None
        self.mark_pipelines()
        # Steps of a pipeline begin with its loop: what comes before is none.
        takes_steps = self._hook_pipelines and self._marks_pipelines
        try:
            self._body.begin(with_trace, with_step=not takes_steps)
        except BaseException:
            self._unmark_pipelines()
            raise

    def mark_pipelines(self, before: Callable[[], None] | None = None) -> None:
        """From now on, marks the stages of pipelines and takes denoising steps for steps.

        Where diffusers has been imported, `begin` does the same. `before` is called before each
        call and each step: it may begin the body.
        """
        if not self._marks_pipelines and PIPELINE_MODULE in sys.modules:
            self._marks_pipelines = True
            self._before_pipeline = before
            stages = Stages(lambda: self._body is not None and self._body.is_ours(), before)
            self._pipelines.enter_context(stages.of_all_pipelines())
            around_step = self._a_step if self._hook_pipelines else nullcontext
            self._pipelines.enter_context(denoising_steps(around_step, stages.begin_loop))

    def _unmark_pipelines(self) -> None:
        self._pipelines.close()
        self._marks_pipelines = False

    def remember_memory(self) -> None:
        """Begins the allocator's history before the body, if `MEM` is asked for."""
        if self.enabled and "MEM" in (self.activities or ()) and not self._body:
            self._body = Body(self)

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Covers the preparation and the body, so that with `MEM` the weights have stacks.

        If the preparation fails, writes the snapshot and `run.json`.
        """
        self.remember_memory()
        try:
            yield
        except BaseException as error:
            if self._body and self._body.has_history and not self._body.began:
                self.begin(with_trace=False)
                self.__exit__(type(error), error, None)
            raise

    def end_trace(self) -> None:
        """Ends and writes the trace, and takes no more steps; the body goes on."""
        if self._body:
            self._body.end_trace()

    def abandon(self) -> None:
        """In a fork: leaves the body to the parent process, without writing anything."""
        self._unmark_pipelines()
        if self._body:
            self._body.abandon()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._body or self._body.is_of_parent():  # a fork leaves it to its parent
            return
        if isinstance(error, SystemExit) and not error.code:
            error = None  # a script that is through
        try:
            self._body.finish(error)
        except Exception as failure:
            if error is None:
                raise
            warn(f"the profile could not be written: {failure}")
        finally:
            self._unmark_pipelines()
        if self._callback_error and error is None:
            raise self._callback_error

    def trace_is_written(self) -> None:
        """Calls `on_trace_ready`. An error that it raises is kept until all files are written."""
        if self._on_trace_ready:
            try:
                self._on_trace_ready(self)
            except Exception as error:
                self._callback_error = error

    def _with_trace(self) -> trace.Trace:
        if not (self._body and self._body.trace and self._body.trace.cycles):
            raise CaptureError("there is no trace")
        return self._body.trace

    @contextmanager
    def _a_step(self) -> Iterator[None]:
        """One denoising step of a pipeline."""
        if self._before_pipeline:
            self._before_pipeline()
        if not (self._body and self._body.is_ours()):
            yield
            return
        with self._body.denoising_step():
            yield

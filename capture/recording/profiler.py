"""`Profiler`: records the body of a `with` statement into a run directory."""

from __future__ import annotations

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
from capture.recording.cuspy import suffix_of
from capture.recording.denoising import PIPELINE_MODULE, denoising_steps
from capture.recording.schedule import AnySchedule, OwnSchedule, Schedule
from capture.recording.stages import Stages

MAX_MEMORY_ENTRIES = 100_000


class Profiler:
    """A context manager that records its body: traces, a memory snapshot, and `run.json`.

    enabled             if False, the body runs without a profiler and nothing is written
    activities          the activities to record, of `CPU`, `GPU` and `MEM`. The default is the CPU
                        and the accelerator, if there is one. `MEM` records the CUDA allocator's
                        history; it can be used alone, and its snapshot is also written if the body
                        fails
    output_dir          the run directory (see `capture.output.run_directory.choose`)
    name                the name of the run and its files; the default is the script's name
    with_stack          record Python frames. Torch uses about one byte of memory per byte of JSON
                        while it records, and eight to write the trace
    record_shapes       record the shapes and types of the operators' inputs
    profile_memory      record the operators' allocations
    with_flops          let `key_averages()` count floating-point operations
    with_modules        record TorchScript modules
    acc_events          let `key_averages()` count the events of all cycles, not only the last
    experimental_config torch's experimental options by name: `{"verbose": True}` records the stacks
                        of operators that `key_averages(group_by_stack_n=…)` needs
    cuspy               let torch's Cuspy record CUDA instead of Kineto, with these options of
                        `torch.profiler.CuspyConfig`; `performance_metrics` are counters of the GPU,
                        and `trace_format` `pftrace` writes traces for Perfetto, which `ingest` does
                        not read
    execution_trace     also record the inputs and outputs of each operator, with torch's
                        `ExecutionTraceObserver`
    schedule            a schedule in the form of torch's, instead of the numbers that follow: a
                        function from a step to a `ProfilerAction`
    skip_first, wait, warmup, active, repeat
                        which steps to record (see `capture.recording.schedule.Schedule`). Without
                        `active`, or in a body without steps, everything is recorded
    on_trace_ready      called with this profiler after each trace is written
    max_memory_entries  maximum number of actions in the allocator's history
    hook_pipelines      count each denoising step of a diffusers pipeline in the body as a step.
                        Then steps begin with a pipeline's loop. If diffusers is loaded and the body
                        calls `step()` itself, pass False so that its first step is marked, too

    `began` is true once a body has begun, and `step_num` is its number of completed steps. After
    the body, `output_dir` is the run directory, `trace_path` the last trace, and `run` the content
    of run.json. If a requested feature is not available on this machine, a CaptureWarning says why,
    and run.json has the reason under `missing`. Raises CaptureError if torch is not installed or
    files cannot be written. If the body raises an error, that error propagates, and a failure to
    write files is only a warning.
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
        cuspy: Mapping[str, Any] | None = None,
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
                "acc_events and with_stack cannot be combined: torch can crash when it reads "
                "Python frames at the end of each cycle; use only one of them"
            )
        self.cuspy = None if cuspy is None else dict(cuspy)
        self.trace_suffix = suffix_of(cuspy)
        self.execution_trace = execution_trace
        numbers = Schedule(skip_first, wait, warmup, active, repeat)
        if schedule and numbers != Schedule():
            raise CaptureError(
                "schedule cannot be combined with skip_first, wait, warmup, active or repeat"
            )
        self.schedule: AnySchedule = OwnSchedule(schedule) if schedule else numbers
        self.max_memory_entries = max_memory_entries
        self.wanted_dir = output_dir
        self.facts: dict[str, Any] = {}
        self.child: Child | None = None  # this process, if a profiled program started it
        self._on_trace_ready = on_trace_ready
        self._callback_error: Exception | None = None
        self._body: Body | None = None
        self._hook_pipelines = hook_pipelines
        self._marks_pipelines = False
        self._takes_step: Callable[[], bool] = lambda: True
        self._pipelines = ExitStack()

    @property
    def began(self) -> bool:
        """Whether a body has begun."""
        return self._body is not None and self._body.began

    @property
    def files(self) -> run_directory.Files:
        """The files of this process. Valid only after a body has begun."""
        assert self._body
        return self._body.files

    @property
    def output_dir(self) -> Path | None:
        """The run directory. Before a body begins, the requested directory or None."""
        if self._body:
            return self._body.files.directory
        return Path(self.wanted_dir) if self.wanted_dir else None

    @property
    def step_num(self) -> int:
        """The number of completed steps of the body."""
        return self._body.steps if self._body else 0

    @property
    def trace_path(self) -> Path | None:
        """The path of the last trace, or None."""
        return self._body.trace_path if self._body else None

    @property
    def memory_path(self) -> Path | None:
        """The path of the memory snapshot, or None."""
        return self._body.memory_path if self._body else None

    @property
    def run(self) -> dict[str, Any]:
        """The content of run.json. Empty until the body ends."""
        return self._body.run if self._body else {}

    def describe(self, **facts: Any) -> None:
        """Add facts to `run.json`, e.g. `model="flux"`. `capture.output.run_json` has the keys."""
        self.facts |= facts

    def step(self) -> None:
        """End the current step and begin the next one. Does nothing outside the body."""
        if self._body and self._body.is_ours():
            self._body.end_step()
            self._body.begin_step()

    def end_step(self) -> None:
        """End the current step without beginning another."""
        if self._body and self._body.is_ours():
            self._body.end_step()

    def key_averages(self, *args: Any, **kwargs: Any) -> Any:
        """Call `key_averages` of torch's profiler on the last trace.

        Raises CaptureError if there is no trace.
        """
        return self._written_trace().profile.key_averages(*args, **kwargs)

    def export_chrome_trace(self, path: str, **_: Any) -> None:
        """Copy the last trace, compressed if `path` ends in .gz.

        This supports callbacks that were written for torch's profiler. Raises CaptureError if there
        is no trace.
        """
        self._written_trace()
        assert self.trace_path
        run_directory.copy_trace(self.trace_path, path)

    def __enter__(self) -> Profiler:
        self.begin()
        return self

    def begin(self, with_trace: bool = True, with_tentative_step: bool = False) -> None:
        """Begin the body, as `with` does. Without a trace, only `run.json` is written.

        A tentative first step does not count if denoising steps follow.
        """
        if not self.enabled:
            return
        if with_trace and trace.torch_records() and trace.give_way:
            trace.give_way()
        if with_trace and trace.torch_records():
            raise CaptureError(
                "another torch profiler is recording; torch can run only one at a time"
            )
        if not self._body or self._body.began:
            self._body = Body(self)
        self._callback_error = None
        self.mark_pipelines()
        # Denoising steps begin with the pipeline's loop. Time before the loop belongs to no step.
        takes_steps = self._hook_pipelines and self._marks_pipelines
        try:
            with_step = with_tentative_step or not takes_steps
            self._body.begin(with_trace, with_step, with_tentative_step)
        except BaseException:
            self._unmark_pipelines()
            raise

    def mark_pipelines(
        self,
        before_call: Callable[[], None] | None = None,
        takes_step: Callable[[], bool] = lambda: True,
    ) -> None:
        """Mark the stages of pipelines from now on, and count denoising steps as steps.

        `begin` does the same. This has no effect until diffusers has been imported. `before_call`
        is called before each call, and `takes_step` before each denoising step. It returns whether
        the step counts. Both may begin the body.
        """
        if not self._marks_pipelines and PIPELINE_MODULE in sys.modules:
            self._marks_pipelines = True
            self._takes_step = takes_step
            stages = Stages(lambda: self._body is not None and self._body.is_ours(), before_call)
            self._pipelines.enter_context(stages.of_all_pipelines())
            around_step = self._a_step if self._hook_pipelines else nullcontext
            self._pipelines.enter_context(denoising_steps(around_step, stages.begin_loop))

    def _unmark_pipelines(self) -> None:
        self._pipelines.close()
        self._marks_pipelines = False

    def remember_memory(self) -> None:
        """Begin the allocator's history before the body, if `MEM` is requested."""
        if self.enabled and "MEM" in (self.activities or ()) and not self._body:
            self._body = Body(self)

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Cover the preparation and the body, so that with `MEM` the weights have stacks.

        If the preparation fails, write the snapshot and `run.json`.
        """
        self.remember_memory()
        try:
            yield
        except BaseException as error:
            if self._body and self._body.has_history and not self._body.began:
                self.begin(with_trace=False)
                self.__exit__(type(error), error, None)
            raise

    def note_job(self) -> None:
        """Remember the process groups that exist now, because the program may destroy them."""
        if self._body and self._body.began and not self._body.is_of_parent():
            self._body.note_job()

    def end_trace(self) -> None:
        """End and write the trace, and ignore further steps. The body continues."""
        if self._body:
            self._body.end_trace()

    def abandon(self) -> None:
        """Abandon the recording in a fork, without writing files. The parent continues it."""
        self._unmark_pipelines()
        if self._body:
            self._body.abandon()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._body or self._body.is_of_parent():  # in a fork, only the parent writes
            return
        if isinstance(error, SystemExit) and not error.code:
            error = None  # a script that ended normally
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
        """Call `on_trace_ready`. If it raises an error, keep it until all files are written."""
        if self._on_trace_ready:
            try:
                self._on_trace_ready(self)
            except Exception as error:
                self._callback_error = error

    def _written_trace(self) -> trace.Trace:
        if not (self._body and self._body.trace and self._body.trace.cycles):
            raise CaptureError("there is no trace: the profiler has written none so far")
        return self._body.trace

    @contextmanager
    def _a_step(self) -> Iterator[None]:
        """Record the body as a denoising step, if the profiler records this thread."""
        counts = self._takes_step()
        if not (counts and self._body and self._body.is_ours()):
            yield
            return
        with self._body.denoising_step():
            yield

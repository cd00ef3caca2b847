"""Decides when the recording of a program begins and ends, and what its steps are."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from capture import sigterm
from capture.device import is_capturing
from capture.errors import say
from capture.output.processes import Child
from capture.recording import flight_recorder, trace
from capture.recording.denoising import PIPELINE_MODULE
from capture.recording.labels import unseen_by_function_modes
from capture.recording.profiler import Profiler
from capture.scripts.calls import OutermostCalls
from capture.scripts.children import is_helper, pass_on_rank
from capture.scripts.compilations import on_compilations
from capture.scripts.endings import SaveAtExit, exit_without_destructors
from capture.scripts.imports import after_imports
from capture.scripts.jobs import before_leaving
from capture.scripts.optimizers import optimizer_steps, optimizers_made
from capture.scripts.own_sessions import OwnSessions
from capture.scripts.size_limit import SizeLimit
from capture.scripts.steps import Steps

ENOUGH = 10  # consecutive steps without a compilation


class Recorder:
    """Begins and ends the recording of a process, and its steps.

    Recording begins with the first call of a module or a diffusers pipeline on the main thread, or
    with the first compilation; with `from_start`, once torch has been imported. It ends after
    `ENOUGH` steps or if the process grows too much, unless `from_start` or a schedule is given.
    While a CUDA graph is captured, no recording begins or ends, and no step ends. If
    the program starts torch's profiler itself, that session replaces the recording. A fork is a
    separate process and is recorded in the same way.

    `program` identifies the program, and `child` describes this process if the program has started
    it. Errors of the recording are printed to stderr and never raised into the program; then
    `has_failed` is true. `other_threads` is true if threads other than the main one called modules.
    """

    def __init__(
        self,
        make_profiler: Callable[[], Profiler],
        from_start: bool,
        program: str,
        child: Child | None = None,
    ) -> None:
        self._make_profiler = make_profiler
        self._program = program
        self._child = child
        self._from_start = from_start
        self._calls = OutermostCalls(
            self._guarded(self._called),
            self._guarded(self._returned),
            self._guarded(self._called_elsewhere),
        )
        self._sessions = OwnSessions(self._guarded(self._session_begins), self._session_path)
        self._listens = False
        self._has_compiled_functions = False
        self._has_optimizer = False
        self._is_fork = False
        self._forked_from: Profiler | None = None
        self._hooks = ExitStack()  # contexts that are open while the program is observed
        self._step_hooks = ExitStack()  # contexts that are open while the program is recorded
        self._begin_process()

    def _begin_process(self) -> None:
        """Set the state of a process that has recorded nothing so far."""
        self.profiler = self._make_profiler()
        self.profiler.child = self._child
        self.has_failed = False
        self.other_threads = False
        self._has_limit = not self._from_start and self.profiler.schedule.active is None
        self._limit: SizeLimit | None = None
        self._steps = Steps(self._end_step)
        if self._has_optimizer:
            self._steps.optimizer_made()
        self._process = os.getpid()
        self._busy = 0
        self._is_over = False  # if true, nothing more is recorded
        self._is_written = False
        self._steps_done = 0
        self._compiled = False  # whether something was compiled in this step
        self._is_compiling = False

    @property
    def has_lost_session(self) -> bool:
        """Whether torch has lost a profiler session of the program."""
        return self._sessions.has_lost

    def listen(self) -> None:
        """Begin to observe the program."""
        if not self.profiler.enabled:
            return
        os.register_at_fork(after_in_child=self._forked)
        self._listens = True
        self._stop_imports = after_imports(
            {
                "torch": self._guarded(self._torch_is_there),
                "torch._dynamo": self._guarded(self._listen_to_compilations),
                PIPELINE_MODULE: self._guarded(self._pipelines_are_there),
            }
        )

    def stop(self) -> None:
        """Stop observing. The program has ended, and its exit handlers are not recorded."""
        if self._listens:
            self._listens = False
            self._stop_imports()
            self._hooks.close()
            self._calls.stop()
            self._sessions.stop()

    def end(self, error: BaseException | None = None) -> None:
        """End the recording and write its files. Does nothing in a fork or when called again."""
        if os.getpid() != self._process or self._is_written or not self.profiler.began:
            return
        self._is_written = True
        with sigterm.writing():
            self._stop()
            self._sessions.save()
            steps_from = self._steps.source if self.profiler.step_num else None
            self.profiler.describe(steps_from=steps_from)
            self.profiler.__exit__(type(error) if error else None, error, None)
            if self._child:
                self._child.ends(self.profiler.files.directory)
        if self._child:
            sigterm.restore_default()

    def end_on_main_thread(self) -> None:
        """Call `end` on the main thread only: torch cannot end a recording on another thread."""
        if _is_main_thread():
            self.end()

    def _end_at_exit(self) -> None:
        """Call `end` with the error whose traceback Python has printed, if there is one."""
        self.end(getattr(sys, "last_value", None))

    def _forked(self) -> None:
        """Reset the state in a fork. `_begin` abandons the recording shared with the parent."""
        if not self._listens:
            return
        self._is_fork = True
        if self.profiler.began:
            self._forked_from = self.profiler
            exit_without_destructors()
        self._child = Child(self._program, os.environ.get("RANK"))
        self._begin_process()
        trace.forked()
        self._sessions.forked()
        if not self._has_compiled_functions:
            self._calls.forked()

    def _guarded(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """Return `callback` guarded: its errors are reported, and then no callback runs any more.

        It also does nothing in another process. Then it returns None.
        """

        def guarded(*args: object) -> Any:
            if self.has_failed or os.getpid() != self._process:
                return None
            self._busy += 1
            try:
                with unseen_by_function_modes():
                    return callback(*args)
            except Exception as error:
                self.has_failed = True
                say(f"the recording failed: {error}")
                self._calls.stop()
            finally:
                self._busy -= 1
            return None

        return guarded

    def _torch_is_there(self) -> None:
        if not self._sessions.listen():
            say(
                "cannot observe the profiler sessions of this version of torch: the program's own "
                "sessions are not kept"
            )
        if not self._calls.watch():
            say("cannot observe module calls with this version of torch: everything is recorded")
            self._from_start, self._has_limit = True, False
        if directory := self.profiler.output_dir:
            flight_recorder.remember_more(directory, self.profiler.name)
        self._hooks.enter_context(before_leaving(self._guarded(lambda: self.profiler.note_job())))
        self._hooks.enter_context(optimizers_made(self._guarded(self._optimizer_made)))
        if "MEM" in (self.profiler.activities or ()):
            import torch

            # Runs when the program initialises CUDA, before it allocates weights there.
            remember = self._guarded(lambda: self.profiler.remember_memory())
            torch.cuda._lazy_call(remember)  # type: ignore[no-untyped-call]
        if self._from_start and _is_main_thread():
            self._begin()

    def _listen_to_compilations(self) -> None:
        on_compilations(
            self._guarded(self._compilation_begins), self._guarded(self._compilation_ends)
        )

    def _pipelines_are_there(self) -> None:
        self.profiler.mark_pipelines(
            self._guarded(self._begin_on_main_thread), self._guarded(self._denoising_begins)
        )

    def _begin_on_main_thread(self) -> None:
        if _is_main_thread():
            self._begin()

    def _denoising_begins(self) -> bool:
        self._begin_on_main_thread()
        return _is_main_thread() and self._steps.denoising_begins()

    def _begin(self, with_trace: bool = True) -> None:
        if self.profiler.began or self._is_over or is_capturing():
            return
        if self._child and is_helper():
            self._is_over = True
            return
        if self._forked_from:
            self._step_hooks.close()
            self._forked_from.abandon()
        if with_trace and trace.is_in_use():
            return
        self.profiler.begin(with_trace, with_tentative_step=True)
        if self._is_fork:
            exit_without_destructors()
        if self._child:
            self._child.begins(self.profiler.files.directory)
            pass_on_rank()
            self._at_exit = SaveAtExit(self._end_at_exit)
            sigterm.save_at_sigterm(self.end)
        trace.give_way = self._guarded(self._session_begins)
        if self._has_limit:
            self._limit = SizeLimit(self._guarded(self._stop), self._must_not_stop)
        self._step_hooks.enter_context(optimizer_steps(self._guarded(self._optimized)))

    def _must_not_stop(self) -> bool:
        return self._busy > 0 or self._is_compiling or is_capturing()

    def _optimizer_made(self) -> None:
        if _is_main_thread():
            self._has_optimizer = True
            self._steps.optimizer_made()
            self._steps_done = 0

    def _called(self, module: object) -> None:
        """Handle the beginning of an outermost module call on the main thread."""
        self._begin()
        if self._is_over:
            self._calls.stop()
        elif self.profiler.began:
            self._steps.called(module)

    def _returned(self, module: object) -> None:
        """Handle the end of an outermost module call on the main thread."""
        if self.profiler.began and not self._is_over:
            self._steps.returned(module)

    def _called_elsewhere(self) -> None:
        self.other_threads = True

    def _optimized(self, optimizer: object) -> None:
        if not self._is_over and _is_main_thread():
            self._steps.optimized(optimizer)

    def _compilation_begins(self, _: Any) -> None:
        """Handle the beginning of a compilation."""
        self._is_compiling = True
        if self._is_over or not _is_main_thread():
            return
        self._compiled = True
        if not self._calls.inside:  # a function: Dynamo would see the replaced code of modules
            self._has_compiled_functions = True
            self._calls.stop()
            self._begin()

    def _compilation_ends(self, _: Any) -> None:
        """Handle the end of a compilation, which may have taken more memory than the trace."""
        self._is_compiling = False
        if self._limit:
            self._limit.start_anew()

    def _session_begins(self) -> None:
        """End the trace before the program starts torch's profiler itself."""
        if not self.profiler.began:
            self._begin(with_trace=False)
        self._stop()

    def _end_step(self) -> None:
        if is_capturing():
            return  # torch's profiler would wait for the device; the step goes on
        if self._limit and not self._steps_done:
            self._limit.start_anew()  # a first step, and one that compiles, loads kernels
        self._steps_done = 0 if self._compiled else self._steps_done + 1
        self._compiled = False
        if self._has_limit and self._steps_done >= ENOUGH:
            self.profiler.end_step()
            self._stop(f"{ENOUGH} steps without a compilation")
        else:
            self.profiler.step()

    def _stop(self, reason: str = "") -> None:
        """End and write the trace. `run.json` is written when the program ends."""
        if self._is_over:
            return
        self._is_over = True
        self._calls.stop()
        self._step_hooks.close()
        if self._limit:
            self._limit.stop()
        if reason and not self._child:
            say(f"the recording ends here: {reason}")
        self.profiler.end_trace()

    def _session_path(self) -> Path:
        cycles = (None, *range(2, 100_000))
        paths = map(self.profiler.files.trace, cycles)
        return next(path for path in paths if not path.exists())


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()

"""Decides when to record a program."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from capture import sigterm
from capture.errors import say
from capture.output.processes import Child
from capture.recording import trace
from capture.recording.denoising import PIPELINE_MODULE
from capture.recording.profiler import Profiler
from capture.scripts.calls import OutermostCalls
from capture.scripts.children import pass_on_rank
from capture.scripts.endings import SaveAtExit, exit_without_destructors
from capture.scripts.imports import after_imports
from capture.scripts.optimizers import optimizer_steps, optimizers_made
from capture.scripts.own_sessions import OwnSessions
from capture.scripts.size_limit import SizeLimit
from capture.scripts.steps import Steps

ENOUGH = 10  # steps without a compilation


class Recorder:
    """Begins, divides and ends the recording of a process.

    Recording begins with the first call of a module or a diffusers pipeline on the main thread, or
    the first compilation; with `from_start`, as soon as torch has been imported. It ends after
    enough steps, or as the process grows; never with `from_start` or a schedule. A session of
    torch's profiler that the program starts itself takes its place. A fork is a process of its own,
    which is listened to in the same way.

    `program` names the program among others, and `child` this process where the program has
    started it. What fails here is said on stderr, and never raised into the program. `has_failed`
    tells, and `other_threads` whether modules were called on other threads than the main one.
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
        self._hooks = ExitStack()  # while the program is listened to
        self._step_hooks = ExitStack()  # while it is recorded
        self._begin_process()

    def _begin_process(self) -> None:
        """The state of a process that has recorded nothing so far."""
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
        self._is_over = False  # nothing more is recorded
        self._is_written = False
        self._steps_done = 0
        self._compiled = False

    def listen(self) -> None:
        """From now on, the program is listened to."""
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
        """The program has ended; what it does as it exits is its own."""
        if self._listens:
            self._listens = False
            self._stop_imports()
            self._hooks.close()
            self._calls.stop()
            self._sessions.stop()

    def end(self, error: BaseException | None = None) -> None:
        """Ends the recording and writes its files. Called again, or in a fork, it does nothing."""
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

    def end_on_main_thread(self) -> None:
        """The same, but nothing on another thread, on which torch cannot end a recording."""
        if _is_main_thread():
            self.end()

    def _forked(self) -> None:
        """Starts anew in a fork. `_begin` ends what the fork shares with its parent."""
        if not self._listens:
            return
        sigterm.forked()
        self._is_fork = True
        if self.profiler.began:
            self._forked_from = self.profiler
            exit_without_destructors()
        self._child = Child(self._program, os.environ.get("RANK"))
        self._begin_process()
        self._sessions.forked()
        if not self._has_compiled_functions:
            self._calls.forked()

    def _guarded(self, hear: Callable[..., None]) -> Callable[..., None]:
        """`hear` in this process, while nothing has failed; its errors are said."""

        def guarded(*args: object) -> None:
            if self.has_failed or os.getpid() != self._process:
                return
            self._busy += 1
            try:
                hear(*args)
            except Exception as error:
                self.has_failed = True
                say(f"the recording failed: {error}")
                self._calls.stop()
            finally:
                self._busy -= 1

        return guarded

    def _torch_is_there(self) -> None:
        if not self._sessions.listen():
            say("this torch hides its profiler's sessions: a program's own is not kept")
        if not self._calls.watch():
            say("this torch hides the calls of modules: everything is recorded")
            self._from_start, self._has_limit = True, False
        self._hooks.enter_context(optimizers_made(self._guarded(self._optimizer_made)))
        if "MEM" in (self.profiler.activities or ()):
            import torch

            # As the program initialises CUDA, and so before it has weights there.
            remember = self._guarded(lambda: self.profiler.remember_memory())
            torch.cuda._lazy_call(remember)  # type: ignore[no-untyped-call]
        if self._from_start and _is_main_thread():
            self._begin()

    def _listen_to_compilations(self) -> None:
        try:
            from torch._dynamo.callback import callback_handler

            clear = callback_handler.clear
        except (ImportError, AttributeError):
            say("this torch hides its compilations: steps that compile count as others")
            return
        callback = self._guarded(self._compiles)

        def clear_others() -> None:  # torch._dynamo.reset() does
            clear()
            callback_handler.register_start_callback(callback)

        callback_handler.clear = clear_others  # type: ignore[method-assign]
        callback_handler.register_start_callback(callback)

    def _pipelines_are_there(self) -> None:
        self.profiler.mark_pipelines(self._guarded(self._begin_on_main_thread))

    def _begin_on_main_thread(self) -> None:
        if _is_main_thread():
            self._begin()

    def _begin(self, with_trace: bool = True) -> None:
        if self.profiler.began or self._is_over:
            return
        if self._child and _is_helper():
            self._is_over = True
            return
        if self._forked_from:
            self._step_hooks.close()
            self._forked_from.abandon()
        if with_trace and trace.torch_records():
            return
        self.profiler.begin(with_trace)
        if self._is_fork:
            exit_without_destructors()
        if self._child:
            self._child.begins(self.profiler.files.directory)
            pass_on_rank()
            self._at_exit = SaveAtExit(self.end)
            sigterm.save_at_sigterm(self.end)
        trace.give_way = self._guarded(self._session_begins)
        if self._has_limit:
            self._limit = SizeLimit(self._guarded(self._stop), lambda: self._busy > 0)
        self._step_hooks.enter_context(optimizer_steps(self._guarded(self._optimized)))

    def _optimizer_made(self) -> None:
        if _is_main_thread():
            self._has_optimizer = True
            self._steps.optimizer_made()
            self._steps_done = 0

    def _called(self, module: object) -> None:
        """Before an outermost call of a module on the main thread."""
        self._begin()
        if self._is_over:
            self._calls.stop()
            return
        self._steps.called(module)

    def _returned(self, module: object) -> None:
        """After it, on the main thread."""
        if not self._is_over:
            self._steps.returned(module)

    def _called_elsewhere(self) -> None:
        self.other_threads = True

    def _optimized(self, optimizer: object) -> None:
        if not self._is_over and _is_main_thread():
            self._steps.optimized(optimizer)

    def _compiles(self, _: Any) -> None:
        """As Dynamo begins to compile."""
        if self._is_over or not _is_main_thread():
            return
        self._compiled = True
        if not self._calls.inside:  # a function: Dynamo would see the other code of modules
            self._has_compiled_functions = True
            self._calls.stop()
            self._begin()
        if self._limit:
            self._limit.start_anew()

    def _session_begins(self) -> None:
        """Before the program starts a session of torch's profiler."""
        if not self.profiler.began:
            self._begin(with_trace=False)
        self._stop()

    def _end_step(self) -> None:
        self._steps_done = 0 if self._compiled else self._steps_done + 1
        self._compiled = False
        if self._has_limit and self._steps_done >= ENOUGH:
            self.profiler.end_step()
            self._stop(f"{ENOUGH} steps without a compilation are enough")
        else:
            self.profiler.step()

    def _stop(self, why: str = "") -> None:
        """Ends and writes the trace. `run.json` waits for the end of the program."""
        if self._is_over:
            return
        self._is_over = True
        self._calls.stop()
        self._step_hooks.close()
        if self._limit:
            self._limit.stop()
        if why and not self._child:
            say(f"the recording ends here: {why}")
        self.profiler.end_trace()

    def _session_path(self) -> Path:
        cycles = (None, *range(2, 100_000))
        paths = map(self.profiler.files.trace, cycles)
        return next(path for path in paths if not path.exists())


def _is_helper() -> bool:
    """Whether this process loads data, or cannot use the device that its parent uses."""
    worker = sys.modules.get("torch.utils.data._utils.worker")
    cuda = sys.modules.get("torch.cuda")
    return bool((worker and worker.get_worker_info()) or (cuda and cuda._is_in_bad_fork()))


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()

"""When a program is recorded, and what its steps are, by what the program does."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from capture.errors import warn
from capture.output import run_directory
from capture.output.ranks import rank
from capture.recording.denoising import PIPELINE_MODULE
from capture.recording.memory import rss_bytes
from capture.recording.profiler import Profiler
from capture.scripts.calls import OutermostCalls
from capture.scripts.imports import after_imports
from capture.scripts.optimizers import is_any_alive, optimizer_steps
from capture.scripts.own_sessions import OwnSessions

UNITS = 10
ACCUMULATED = 8  # calls of a module without a step of an optimizer: it takes none, or is compiled
LIMIT_BYTES = 256 << 20  # of JSON: to end such a recording takes some 10 s and 2 GB of memory
JSON_PER_RSS = 2.5  # bytes of JSON for each byte that torch holds while it records


class Recorder:
    """Begins, divides and ends the recording of a program.

    Recording begins with the first call of a module on the main thread, or the first compilation;
    with `from_start`, as soon as torch has been imported. It ends after `units` optimizer steps or
    outermost calls without a compilation, or as its trace grows too large; never with
    `from_start` or a schedule. A session of torch's profiler that the program starts itself takes
    its place.
    """

    def __init__(self, profiler: Profiler, from_start: bool, units: int = UNITS) -> None:
        self.profiler = profiler
        self.missing: dict[str, str] = {}
        self._from_start = from_start
        self._limit = None if from_start or profiler.schedule.active is not None else units
        self._calls = OutermostCalls(self._called, self._called_elsewhere)
        self._sessions = OwnSessions(self._session_begins, self._session_path)
        self._process = os.getpid()
        self._is_over = False
        self._hooks = ExitStack()
        self._steps_from: str | None = None
        self._leader: int | None = None  # the module whose calls are the steps
        self._optimizer: int | None = None  # the optimizer whose steps are the steps
        self._turns = 0
        self._seen: set[int] = set()
        self._units = 0
        self._compiled = False
        self._calls_seen = 0
        self._rss: int | None = None

    @contextmanager
    def hooks(self) -> Iterator[None]:
        """In the body, a program is listened to."""
        if not self.profiler.enabled:
            yield
            return
        imports = {"torch": self._torch_is_there, "torch._dynamo": self._listen_to_compilations}
        with after_imports(imports):
            try:
                yield
            finally:
                self._calls.stop()

    def end(self, error: BaseException | None = None) -> None:
        """Ends the recording, and writes what was recorded; once, and in this process alone."""
        if os.getpid() != self._process:
            return
        self._calls.stop()
        self._hooks.close()
        if self._is_over or not self.profiler.began:
            return
        self._is_over = True
        self.profiler.end_trace()
        self._sessions.save()
        steps_from = self._steps_from if self.profiler.step_num else None
        self.profiler.describe(steps_from=steps_from, missing=self.missing)
        self.profiler.__exit__(type(error) if error else None, error, None)

    def _torch_is_there(self) -> None:
        if not self._sessions.listen():
            warn("this torch hides its profiler's sessions: a program's own is not kept")
        if self._from_start:
            self._begin()
        if not self._calls.watch() and not self._from_start:
            warn("this torch hides the calls of modules: everything is recorded, without steps")
            self._limit = None
            self._begin()

    def _listen_to_compilations(self) -> None:
        try:
            from torch._dynamo.callback import callback_handler

            callback_handler.register_start_callback(self._compiles)
        except (ImportError, AttributeError):
            warn("this torch hides its compilations: steps that compile count as others")

    def _begin(self, with_trace: bool = True) -> None:
        if self.profiler.began or self._is_over:
            return
        if with_trace and _torch_records():
            return
        self.profiler.begin(with_trace)
        if is_any_alive():
            self._steps_from = "optimizer"
        self._hooks.enter_context(optimizer_steps(self._optimized))

    def _called(self, module: object) -> None:
        """Before an outermost call of a module on the main thread."""
        if self._is_over:
            self._calls.stop()
            return
        self._begin()
        if not self._recording:
            return
        if _in_pipeline():
            self._steps_from = "denoising"
        elif self._steps_from in (None, "calls", "optimizer"):
            self._take_turn(module)
        if self._is_too_large():
            self._end_early(f"its trace would pass {LIMIT_BYTES >> 20} MiB of JSON")

    def _take_turn(self, module: object) -> None:
        """A step begins with each call of the module that was the first to be called twice.

        Where there is an optimizer, its steps are awaited; a compiled one's are not seen.
        """
        if self._leader is None and id(module) in self._seen:
            self._leader = id(module)
        self._seen.add(id(module))
        if id(module) != self._leader or self._optimizer is not None:
            return
        self._turns += 1
        if self._steps_from != "optimizer" or self._turns >= ACCUMULATED:
            self._steps_from = "calls"
            self._end_unit()

    def _optimized(self, optimizer: object) -> None:
        """After a step of an optimizer: the first one's turns are the steps."""
        if not self._recording or not _is_main_thread():
            return
        self._steps_from = "optimizer"
        if self._optimizer is None:
            self._optimizer = id(optimizer)
        if id(optimizer) == self._optimizer:
            self._end_unit()

    def _end_unit(self) -> None:
        self._units = 0 if self._compiled else self._units + 1
        self._compiled = False
        if self._limit is not None and self._units >= self._limit:
            self.profiler.end_step()
            self._end_early(f"{self._units} steps without a compilation are enough")
        else:
            self.profiler.step()

    def _compiles(self, _: Any) -> None:
        """As Dynamo begins to compile."""
        if not _is_main_thread() or os.getpid() != self._process:
            return
        self._compiled = True
        if not self._calls.inside:  # a function, not a module: Dynamo would see the other code
            self._calls.stop()
            try:
                self._begin()
            except Exception as error:
                warn(f"nothing was recorded: {error}")

    def _called_elsewhere(self) -> None:
        self.missing["threads"] = (
            "modules were called on other threads than the main one, which the trace does not hold"
        )

    def _session_begins(self) -> None:
        """Before the program starts a session of torch's profiler."""
        if os.getpid() != self._process or self._is_over:
            return
        if not self.profiler.began:
            self._begin(with_trace=False)
        self.profiler.end_trace()

    def _session_path(self) -> Path:
        profiler = self.profiler
        assert profiler.output_dir
        paths = (
            run_directory.trace_path(profiler.output_dir, profiler.name, rank(), cycle)
            for cycle in (None, *range(2, 100_000))
        )
        return next(path for path in paths if not path.exists())

    def _end_early(self, why: str) -> None:
        print(f"capture: the recording ends here: {why}", file=sys.stderr)
        self.end()

    def _is_too_large(self) -> bool:
        """Estimated by the memory that the process has taken since the first call was over."""
        if self._limit is None:
            return False
        self._calls_seen += 1
        if self._calls_seen == 2:
            self._rss = rss_bytes()
        return self._rss is not None and (
            ((rss_bytes() or 0) - self._rss) * JSON_PER_RSS > LIMIT_BYTES
        )

    @property
    def _recording(self) -> bool:
        return self.profiler.began and not self._is_over and os.getpid() == self._process


def _torch_records() -> bool:
    import torch

    return bool(torch._C._autograd._profiler_enabled())


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _in_pipeline() -> bool:
    """Whether a call of a diffusers pipeline is under way on this thread."""
    module = sys.modules.get(PIPELINE_MODULE)
    if module is None:
        return False
    frame = sys._getframe(1)
    while frame:
        if frame.f_code.co_name == "__call__" and isinstance(
            frame.f_locals.get("self"), module.DiffusionPipeline
        ):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False

"""Decides what counts as a step of a program."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable

from capture.recording.denoising import PIPELINE_MODULE
from capture.scripts.optimizers import is_any_alive

ACCUMULATED = 64  # calls without a step of an optimizer: the program takes none, or compiled it


class Steps:
    """Finds the steps of a program; calls `on_end` as one ends and the next begins.

    `source` is `optimizer`, `denoising` (whose steps the profiler marks itself), `calls`, or None
    where no steps were found so far.
    """

    def __init__(self, on_end: Callable[[], None]) -> None:
        self.source: str | None = None
        self._on_end = on_end
        self._seen: dict[int, weakref.ref[object]] = {}
        self._leader: weakref.ref[object] | None = None
        self._optimizer: weakref.ref[object] | None = None
        self._turns = 0

    def begin(self) -> None:
        """As the recording begins: where there is an optimizer, its steps are awaited."""
        if is_any_alive():
            self.source = "optimizer"

    def called(self, module: object) -> None:
        """Before an outermost call: a step begins with each call of the first repeated module."""
        if self.source == "denoising" or self._optimizer:
            return
        if _in_pipeline():
            self.source = "denoising"
            return
        if self._leader is None:
            seen = self._seen.get(id(module))
            if seen is None or seen() is not module:
                self._seen[id(module)] = weakref.ref(module)
                return
            self._leader = seen
        if self._leader() is not module:
            return
        self._turns += 1
        if self.source == "optimizer" and self._turns < ACCUMULATED:
            return
        self.source = "calls"
        self._on_end()

    def optimized(self, optimizer: object) -> None:
        """After an optimizer's step: those of the first optimizer end the program's steps."""
        if self.source in ("calls", "denoising"):
            return
        self.source = "optimizer"
        if self._optimizer is None:
            self._optimizer = weakref.ref(optimizer)
        if self._optimizer() is optimizer:
            self._on_end()


def _in_pipeline() -> bool:
    """Whether a call of a diffusers pipeline is under way on this thread."""
    module = sys.modules.get(PIPELINE_MODULE)
    frame = sys._getframe(1) if module else None
    while frame:
        if frame.f_code.co_name == "__call__" and isinstance(
            frame.f_locals.get("self"),
            module.DiffusionPipeline,  # type: ignore[union-attr]
        ):
            return True
        frame = frame.f_back
    return False

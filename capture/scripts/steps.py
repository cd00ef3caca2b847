"""Decides what counts as a step of a program."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable

from capture.recording.denoising import PIPELINE_MODULE

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
        self._has_begun = False

    def optimizer_made(self) -> None:
        """The program has an optimizer: its steps are awaited."""
        if self.source != "denoising":
            self.source = "optimizer"
            self._turns = 0

    def called(self, module: object) -> None:
        """Before an outermost call: the second one of a module ends what was before it."""
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
        if self._is_turn(module) and not self._has_begun:
            self._end()

    def returned(self, module: object) -> None:
        """After an outermost call: from the second one on, it ends a step."""
        if self._leader and self._leader() is module:
            self._turns += 1
            if self._has_begun and self._is_turn(module):
                self._end()

    def optimized(self, optimizer: object) -> None:
        """After an optimizer's step: those of the first optimizer end the program's steps."""
        if self.source in ("calls", "denoising"):
            return
        self.source = "optimizer"
        if self._optimizer is None:
            self._optimizer = weakref.ref(optimizer)
        if self._optimizer() is optimizer:
            self._on_end()

    def _is_turn(self, module: object) -> bool:
        """Whether calls of this module are the steps."""
        if self.source == "denoising" or self._optimizer or not self._leader:
            return False
        awaits_optimizer = self.source == "optimizer" and self._turns < ACCUMULATED
        return self._leader() is module and not awaits_optimizer

    def _end(self) -> None:
        self.source = "calls"
        self._has_begun = True
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

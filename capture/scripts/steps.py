"""Decides what counts as a step of a program."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable

from capture.recording.denoising import PIPELINE_MODULE

# After this many calls without an optimizer step, assume that the program makes no steps or has
# compiled them.
MAX_CALLS_WITHOUT_STEP = 64


class Steps:
    """Finds the steps of a program. Calls `on_end` when a step ends and the next one begins.

    `source` is `optimizer`, `denoising` (the profiler marks these steps itself), `calls`, or None
    if no steps have been found so far.
    """

    def __init__(self, on_end: Callable[[], None]) -> None:
        self.source: str | None = None
        self._on_end = on_end
        self._seen: dict[int, weakref.ref[object]] = {}
        self._leader: weakref.ref[object] | None = None
        self._optimizer: weakref.ref[object] | None = None
        self._leader_calls = 0
        self._has_begun = False

    def optimizer_made(self) -> None:
        """Wait for the steps of an optimizer that the program has created."""
        if self.source != "denoising":
            self.source = "optimizer"
            self._leader_calls = 0

    def called(self, module: object) -> None:
        """Handle the beginning of an outermost call. A module's second call ends the first step."""
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
        if self._is_step_call(module) and not self._has_begun:
            self._end()

    def returned(self, module: object) -> None:
        """Handle the end of an outermost call. From the leader's second call, it ends a step."""
        if self._leader and self._leader() is module:
            self._leader_calls += 1
            if self._has_begun and self._is_step_call(module):
                self._end()

    def optimized(self, optimizer: object) -> None:
        """Handle an optimizer's step. The steps of the first optimizer end the program's steps."""
        if self.source in ("calls", "denoising"):
            return
        self.source = "optimizer"
        if self._optimizer is None:
            self._optimizer = weakref.ref(optimizer)
        if self._optimizer() is optimizer:
            self._on_end()

    def _is_step_call(self, module: object) -> bool:
        """Return whether calls of this module are the steps."""
        if self.source == "denoising" or self._optimizer or not self._leader:
            return False
        awaits_optimizer = (
            self.source == "optimizer" and self._leader_calls < MAX_CALLS_WITHOUT_STEP
        )
        return self._leader() is module and not awaits_optimizer

    def _end(self) -> None:
        self.source = "calls"
        self._has_begun = True
        self._on_end()


def _in_pipeline() -> bool:
    """Return whether this thread is inside a call of a diffusers pipeline."""
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

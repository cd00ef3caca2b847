"""Decides what counts as a step of a program."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

from capture.recording.denoisers import denoisers
from capture.recording.denoising import PIPELINE_MODULE

# After this many calls without an optimizer step, assume that the program makes no steps or has
# compiled them.
MAX_CALLS_WITHOUT_STEP = 64
# After this many steps of another optimizer, assume that the leader makes no more steps.
MAX_STEPS_OF_OTHERS = 16


class Steps:
    """Finds the steps of a program. Calls `on_end` when a step ends and the next one begins.

    `source` is `optimizer`, `denoising` (the profiler marks these steps itself), `calls`, or None
    if no steps have been found so far. Only one of them counts at a time.
    """

    def __init__(self, on_end: Callable[[], None]) -> None:
        self.source: str | None = None
        self._on_end = on_end
        self._seen: dict[int, weakref.ref[object]] = {}
        self._leader: weakref.ref[object] | None = None
        self._optimizers = _Optimizers()
        self._leader_calls = 0
        self._has_begun = False

    def optimizer_made(self) -> None:
        """Wait for the steps of an optimizer that the program has created."""
        if self.source != "denoising":
            self.source = "optimizer"
            self._leader_calls = 0

    def denoising_begins(self) -> bool:
        """Handle the beginning of a denoising step. Return whether it counts as a step."""
        if self._optimizers.have_stepped or self._awaits_optimizer:
            return False
        self.source = "denoising"
        return True

    def called(self, module: object) -> None:
        """Handle the beginning of an outermost call. A module's second call ends the first step."""
        if self.source == "denoising" or self._optimizers.have_stepped:
            return
        if self._leader is None:
            if not _may_lead(module):
                return
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
        """Handle an optimizer's step. The steps of the leading optimizer end the program's."""
        if self.source in ("calls", "denoising"):
            return
        self.source = "optimizer"
        if self._optimizers.leads(optimizer):
            self._on_end()

    @property
    def _awaits_optimizer(self) -> bool:
        return self.source == "optimizer" and self._leader_calls < MAX_CALLS_WITHOUT_STEP

    def _is_step_call(self, module: object) -> bool:
        """Return whether calls of this module are the steps."""
        if self.source == "denoising" or self._optimizers.have_stepped or not self._leader:
            return False
        return self._leader() is module and not self._awaits_optimizer

    def _end(self) -> None:
        self.source = "calls"
        self._has_begun = True
        self._on_end()


class _Optimizers:
    """Finds the optimizer whose steps are the steps of the program.

    The leader is the optimizer that steps first. Another one replaces it if the leader is gone, if
    they share a parameter, or if it makes `MAX_STEPS_OF_OTHERS` steps while the leader makes none.
    So optimizers that take turns, as those of a GAN, do not multiply the steps.
    """

    def __init__(self) -> None:
        self.have_stepped = False
        self._leader: Callable[[], object | None] = lambda: None
        self._former: weakref.WeakSet[object] = weakref.WeakSet()
        self._steps_of_others: weakref.WeakKeyDictionary[object, int] = weakref.WeakKeyDictionary()

    def leads(self, optimizer: object) -> bool:
        """Handle a step of the optimizer. Return whether it leads now."""
        self.have_stepped = True
        leader = self._leader()
        if leader is not optimizer and not self._replaces(optimizer, leader):
            self._steps_of_others[optimizer] = self._steps_of_others.get(optimizer, 0) + 1
            return False
        if leader and leader is not optimizer:
            self._former.add(leader)
        self._leader = weakref.ref(optimizer)
        self._steps_of_others.clear()
        return True

    def _replaces(self, optimizer: object, leader: object | None) -> bool:
        if leader is None or self._steps_of_others.get(optimizer, 0) >= MAX_STEPS_OF_OTHERS:
            return True
        # Two optimizers of the same parameters that take turns do not replace each other again.
        is_new = optimizer not in self._former
        return is_new and not _parameters(leader).isdisjoint(_parameters(optimizer))


def _parameters(optimizer: Any) -> set[int]:
    return {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}


def _may_lead(module: object) -> bool:
    """Return whether calls of the module may be steps.

    In a method of a diffusers pipeline that has denoisers, only their calls may. A pipeline with a
    progress bar calls them inside a denoising step.
    """
    pipeline = _pipeline()
    if pipeline is None:
        return True
    parts = denoisers(pipeline).values()
    return not parts or any(part is module for part in parts)


def _pipeline() -> Any:
    """Return the diffusers pipeline in whose method this thread is, or None."""
    module: Any = sys.modules.get(PIPELINE_MODULE)
    frame = sys._getframe(1) if module else None
    while frame:
        caller = frame.f_locals.get("self")
        if issubclass(type(caller), module.DiffusionPipeline):  # asks no proxy for its class
            return caller
        frame = frame.f_back
    return None

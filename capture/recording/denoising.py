"""Finds the denoising steps of diffusers pipelines by their progress bars."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

PIPELINE_MODULE = "diffusers.pipelines.pipeline_utils"
StepContext = Callable[[], AbstractContextManager[object]]


@contextmanager
def denoising_steps(
    around_step: StepContext, begin_loop: Callable[[], ExitStack] = ExitStack
) -> Iterator[None]:
    """Run each denoising step of every diffusers pipeline inside `around_step()`.

    The steps are found while the body runs. The first step begins when a pipeline makes its
    progress bar, which all pipelines do right before their loop. A step ends when the bar advances,
    and the loop ends when the bar is closed. Then the result of `begin_loop()` is closed, too. This
    has no effect if diffusers has not been imported.
    """
    module = sys.modules.get(PIPELINE_MODULE)
    if not module:
        yield
        return
    pipelines = module.DiffusionPipeline
    make = pipelines.progress_bar
    step = _Step()

    def progress_bar(
        self: object, iterable: Iterable[object] | None = None, total: int | None = None
    ) -> Any:
        step.stack.close()  # end the step of a loop that ended early
        if iterable is not None:
            return _stepping(make(self, iterable), around_step, begin_loop)
        bar = make(self, total=total)
        update, close = bar.update, bar.close
        done = 0
        loop = begin_loop()

        def move_on(count: float | None = 1) -> Any:
            nonlocal done
            step.stack.close()
            done += 1
            if total is None or done < total:
                step.stack.enter_context(around_step())
            return update(count)

        def end() -> None:
            loop.close()  # a bar closes again when it is freed; closing twice is harmless
            close()

        bar.update, bar.close = move_on, end
        step.stack.enter_context(around_step())
        return bar

    pipelines.progress_bar = progress_bar
    with step.stack:
        try:
            yield
        finally:
            pipelines.progress_bar = make


class _Step(threading.local):
    """The current step of each thread. A pipeline on another thread does not end it."""

    def __init__(self) -> None:
        self.stack = ExitStack()


def _stepping(
    items: Iterable[object], around_step: StepContext, begin_loop: Callable[[], ExitStack]
) -> Iterator[object]:
    with begin_loop():
        for item in items:
            with around_step():
                yield item

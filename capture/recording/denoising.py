"""The denoising steps of diffusers pipelines, found by their progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

PIPELINE_MODULE = "diffusers.pipelines.pipeline_utils"
StepContext = Callable[[], AbstractContextManager[object]]


@contextmanager
def denoising_steps(
    around_step: StepContext, begin_loop: Callable[[], ExitStack] = ExitStack
) -> Iterator[None]:
    """In the body, each denoising step of every diffusers pipeline is inside `around_step()`.

    The first step begins where a pipeline asks for its progress bar, which they all do right before
    their loop; each ends where the bar moves on. The loop ends where the bar is closed; then what
    `begin_loop()` has returned is closed, too. Pipelines must have been imported.
    """
    module = sys.modules.get(PIPELINE_MODULE)
    if not module:
        yield
        return
    pipelines = module.DiffusionPipeline
    make = pipelines.progress_bar
    with ExitStack() as step:

        def progress_bar(
            self: object, iterable: Iterable[object] | None = None, total: int | None = None
        ) -> Any:
            step.close()  # of a loop that was left
            if iterable is not None:
                return _stepping(make(self, iterable), around_step, begin_loop)
            bar = make(self, total=total)
            update, close = bar.update, bar.close
            done = 0
            loop = begin_loop()

            def move_on(count: float | None = 1) -> Any:
                nonlocal done
                step.close()
                done += 1
                if total is None or done < total:
                    step.enter_context(around_step())
                return update(count)

            def end() -> None:
                loop.close()  # once: a bar is closed again where it is freed
                close()

            bar.update, bar.close = move_on, end
            step.enter_context(around_step())
            return bar

        pipelines.progress_bar = progress_bar
        try:
            yield
        finally:
            pipelines.progress_bar = make


def _stepping(
    items: Iterable[object], around_step: StepContext, begin_loop: Callable[[], ExitStack]
) -> Iterator[object]:
    with begin_loop():
        for item in items:
            with around_step():
                yield item

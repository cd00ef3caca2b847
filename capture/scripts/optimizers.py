"""The steps of optimizers, seen without torch.compile seeing it.

Dynamo guards on an optimizer's hooks. But each step that is not compiled runs in a
`record_function` of torch's own, which Dynamo does not trace.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LABEL = "Optimizer.step#"


def is_any_alive() -> bool:
    """Whether the program has made an optimizer."""
    from torch.optim import Optimizer

    return any(issubclass(type(thing), Optimizer) for thing in gc.get_objects())


@contextmanager
def optimizer_steps(on_step: Callable[[object], None]) -> Iterator[None]:
    """In the body, calls `on_step(optimizer)` after each step of an optimizer."""
    from torch.autograd.profiler import record_function

    leave = record_function.__exit__

    def leave_and_tell(self: Any, *error: Any) -> None:
        leave(self, *error)
        if self.name.startswith(LABEL) and not any(error):
            on_step(sys._getframe(1).f_locals.get("self"))

    record_function.__exit__ = leave_and_tell  # type: ignore[method-assign]
    try:
        yield
    finally:
        record_function.__exit__ = leave  # type: ignore[method-assign]

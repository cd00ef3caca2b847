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

from capture.recording.code import replaced

LABEL = "Optimizer.step#"

_plain: Callable[..., None] | None = None  # stays: a thread may be on its way to it
_on_step: Callable[[object], None] | None = None


def is_any_alive() -> bool:
    """Whether the program has made an optimizer."""
    from torch.optim import Optimizer

    return any(issubclass(type(thing), Optimizer) for thing in gc.get_objects())


@contextmanager
def optimizer_steps(on_step: Callable[[object], None]) -> Iterator[None]:
    """In the body, calls `on_step(optimizer)` after each step of an optimizer."""
    global _plain, _on_step
    from torch.autograd.profiler import record_function

    leave: Any = record_function.__exit__
    _on_step = on_step
    with replaced(leave, _exit.__code__) as _plain:
        yield


def left(label: Any, error: tuple[Any, Any, Any]) -> None:
    """The replaced code calls this."""
    assert _plain
    assert _on_step
    _plain(label, *error)
    if label.name.startswith(LABEL) and not any(error):
        _on_step(sys._getframe(2).f_locals.get("self"))


def _exit(self: Any, exc_type: Any, exc_value: Any, traceback: Any) -> None:
    from capture.scripts.optimizers import left  # here: this code runs with torch's globals

    left(self, (exc_type, exc_value, traceback))

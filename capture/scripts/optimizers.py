"""Observes optimizers and their steps without any effect on torch.compile.

Dynamo guards on an optimizer's hooks. But torch runs each eager step in a `record_function`, which
Dynamo does not trace.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from capture.recording.code import replaced

LABEL = "Optimizer.step#"

_plain: Callable[..., None] | None = None  # never reset: a thread may be about to call it
_on_step: Callable[[object], None] | None = None
_plain_init: Callable[..., None] | None = None
_on_made: Callable[[], None] | None = None


@contextmanager
def optimizers_made(on_made: Callable[[], None]) -> Iterator[None]:
    """Call `on_made()` after each creation of an optimizer while the body runs."""
    global _plain_init, _on_made
    from torch.optim import Optimizer

    init: Any = Optimizer.__init__
    _on_made = on_made
    with replaced(init, _init.__code__) as _plain_init:
        yield


@contextmanager
def optimizer_steps(on_step: Callable[[object], None]) -> Iterator[None]:
    """Call `on_step(optimizer)` after each step of an optimizer while the body runs."""
    global _plain, _on_step
    from torch.autograd.profiler import record_function

    leave: Any = record_function.__exit__
    _on_step = on_step
    with replaced(leave, _exit.__code__) as _plain:
        yield


def left(label: Any, error: tuple[Any, Any, Any]) -> None:
    """End a `record_function` and report an optimizer's step. The replaced code calls this."""
    assert _plain
    assert _on_step
    _plain(label, *error)
    if label.name.startswith(LABEL) and not any(error):
        from torch.optim import Optimizer

        step = sys._getframe(2)
        optimizer = step.f_locals.get("self")
        if isinstance(optimizer, Optimizer) and not _is_nested(step):
            _on_step(optimizer)


def _is_nested(step: FrameType) -> bool:
    """Return whether another optimizer's step calls this one, e.g. one that averages weights."""
    frame = step.f_back
    while frame:
        if frame.f_code is step.f_code:
            return True
        frame = frame.f_back
    return False


def _exit(self: Any, exc_type: Any, exc_value: Any, traceback: Any) -> None:
    from capture.scripts.optimizers import left  # this code runs with torch's globals

    left(self, (exc_type, exc_value, traceback))


def made(optimizer: Any, params: Any, defaults: Any) -> None:
    """Initialise an optimizer and report it. The replaced code calls this."""
    assert _plain_init
    assert _on_made
    _plain_init(optimizer, params, defaults)
    _on_made()


def _init(self: Any, params: Any, defaults: Any) -> None:
    from capture.scripts.optimizers import made  # this code runs with torch's globals

    made(self, params, defaults)

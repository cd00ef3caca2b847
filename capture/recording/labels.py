"""Labels in traces.

Torch writes the labels of `record_function` unescaped. Quotes in them would make a trace invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from capture.recording.code import replaced

_original_init: Callable[..., None] | None = None  # never reset: a thread may be about to call it
_is_active = False


def valid(label: str) -> str:
    """Return `label` without characters that would break a JSON string."""
    return label.replace('"', "'").replace("\\", "/").replace("\n", " ")


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """Label the body in the recordings of torch's profilers."""
    from torch.profiler import record_function

    annotation: Any = record_function(label)
    with hidden_from_tracers():
        annotation.__enter__()
    try:
        yield
    finally:
        with hidden_from_tracers():
            annotation.__exit__(None, None, None)


@contextmanager
def hidden_from_tracers() -> Iterator[None]:
    """Hide the body's operators from the program's dispatch modes and tracers."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    core: Any = torch._C
    tracing = core._get_tracing_state()
    if not (tracing or core._len_torch_dispatch_stack() or core._len_torch_function_stack()):
        yield  # nothing to hide from, and hiding takes longer than recording
        return
    core._set_tracing_state(None)
    try:
        with _disable_current_modes(), core.DisableTorchFunction():
            yield
    finally:
        core._set_tracing_state(tracing)


def unseen_by_function_modes() -> AbstractContextManager[None]:
    """Hide the body's calls of torch from the program's `TorchFunctionMode`s."""
    import torch

    hidden: AbstractContextManager[None] = torch._C.DisableTorchFunction()
    return hidden


@contextmanager
def valid_labels() -> Iterator[None]:
    """Make the labels of every `record_function` valid while the body runs."""
    global _original_init, _is_active
    if _is_active:
        yield
        return
    from torch.profiler import record_function

    make: Any = record_function.__init__
    try:
        with replaced(make, _init.__code__) as original_init:
            _original_init, _is_active = original_init, True
            yield
    finally:
        _is_active = False


def make_valid(label: object, name: str, args: str | None) -> None:
    """Initialise a `record_function` with valid labels. The replaced code calls this."""
    assert _original_init
    _original_init(label, valid(name), args if args is None else valid(args))


def _init(self: object, name: str, args: str | None = None) -> None:
    from capture.recording.labels import make_valid  # this code runs with torch's globals

    make_valid(self, name, args)

"""Labels that leave a trace valid: torch writes the quotes of a `record_function` unescaped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from capture.recording.code import replaced

_plain: Callable[..., None] | None = None  # stays: a thread may be on its way to it
_is_on = False


def valid(label: str) -> str:
    """`label` without what would end a string of JSON."""
    return label.replace('"', "'").replace("\\", "/").replace("\n", " ")


@contextmanager
def valid_labels() -> Iterator[None]:
    """In the body, the labels of every `record_function` are made valid."""
    global _plain, _is_on
    if _is_on:
        yield
        return
    from torch.profiler import record_function

    make: Any = record_function.__init__
    try:
        with replaced(make, _init.__code__) as plain:
            _plain, _is_on = plain, True
            yield
    finally:
        _is_on = False


def make_valid(label: object, name: str, args: str | None) -> None:
    """The replaced code calls this."""
    assert _plain
    _plain(label, valid(name), args if args is None else valid(args))


def _init(self: object, name: str, args: str | None = None) -> None:
    from capture.recording.labels import make_valid  # here: this code runs with torch's globals

    make_valid(self, name, args)

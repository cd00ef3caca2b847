"""Labels that leave a trace valid: torch writes the quotes of a `record_function` unescaped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.profiler import record_function


def valid(label: str) -> str:
    """`label` without what would end a string of JSON."""
    return label.replace('"', "'").replace("\\", "/").replace("\n", " ")


@contextmanager
def valid_labels() -> Iterator[None]:
    """In the body, the labels of every `record_function` are made valid."""
    from torch.profiler import record_function

    make = record_function.__init__

    def make_valid(self: record_function, name: str, args: str | None = None) -> None:
        make(self, valid(name), args if args is None else valid(args))

    record_function.__init__ = make_valid  # type: ignore[method-assign]
    try:
        yield
    finally:
        record_function.__init__ = make  # type: ignore[method-assign]

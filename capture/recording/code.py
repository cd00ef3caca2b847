"""Replaces the code of a torch function. The function keeps its identity, name and source.

Therefore Dynamo, which guards on functions, and TorchScript, which reads their source, see no
difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType

_disguised: set[CodeType] = set()


@contextmanager
def replaced(function: FunctionType, code: CodeType) -> Iterator[FunctionType]:
    """Replace the code of `function` while the body runs. Yield a function with the old code."""
    own = function.__code__
    plain = copy(function)
    function.__code__ = disguised(code, function)
    try:
        yield plain
    finally:
        function.__code__ = own


def disguised(code: CodeType, function: FunctionType) -> CodeType:
    """Return `code` with the name and source location of the function's code."""
    own = function.__code__
    made = code.replace(
        co_filename=own.co_filename,
        co_firstlineno=own.co_firstlineno,
        co_name=own.co_name,
        co_qualname=own.co_qualname,
    )
    _disguised.add(made)
    return made


def is_disguised(code: CodeType) -> bool:
    """Return whether `code` is from `disguised`. Tracebacks show a wrong line for it."""
    return code in _disguised


def copy(function: FunctionType) -> FunctionType:
    """Return a new function with the current code of `function`."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made

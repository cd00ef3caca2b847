"""Replaces the code of a torch function. The function keeps its identity, name and source.

Dynamo guards on functions, and TorchScript reads their source: neither sees a difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType

_disguised: set[CodeType] = set()


@contextmanager
def replaced(function: FunctionType, code: CodeType) -> Iterator[FunctionType]:
    """In the body, `function` runs `code`. Yields a function that runs the code it had before."""
    own = function.__code__
    plain = copy(function)
    function.__code__ = disguised(code, function)
    try:
        yield plain
    finally:
        function.__code__ = own


def disguised(code: CodeType, function: FunctionType) -> CodeType:
    """`code` under the name of the function's own, and at its place in the source."""
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
    """Whether it is such code: a traceback shows a wrong line for it."""
    return code in _disguised


def copy(function: FunctionType) -> FunctionType:
    """A second function with the present code, which stays as `function` changes."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made

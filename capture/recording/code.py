"""Other code in a function of torch's, which keeps its identity, its name and its source.

Dynamo guards on functions, and TorchScript reads their source: neither sees a difference.
"""

from types import CodeType, FunctionType


def disguised(code: CodeType, function: FunctionType) -> CodeType:
    """`code` under the name of the function's own, and at its place in the source."""
    own = function.__code__
    return code.replace(
        co_filename=own.co_filename,
        co_firstlineno=own.co_firstlineno,
        co_name=own.co_name,
        co_qualname=own.co_qualname,
    )


def copy(function: FunctionType) -> FunctionType:
    """A function with the same code, which keeps it."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made

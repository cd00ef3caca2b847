"""The decorator `@profile_function`, which records each call of a function as a run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from capture.recording.profiler import Profiler
from capture.recording.trace import torch_records


def profile_function(
    enabled: bool | Callable[..., Any] = True, profile_name: str | None = None, **options: Any
) -> Any:
    """Decorate a function, method or coroutine function to record each call as a run.

    `profile_name` defaults to the name of the function. Repeated calls get numbered directories. A
    call inside another recording is not recorded, because torch runs one profiler at a time.
    `options` are passed to `Profiler`. Raises TypeError for anything that is not a function, and
    for a generator function, because its work happens after the call.
    """

    if callable(enabled):  # `@profile_function` without parentheses
        return profile_function()(enabled)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not inspect.isroutine(function) or isinstance(function, classmethod | staticmethod):
            raise TypeError(
                "profile_function decorates functions; put it below @classmethod or @staticmethod"
            )
        if not enabled:
            return function
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{function.__qualname__}: cannot profile a generator, because it runs after the "
                "call"
            )
        name = profile_name or function.__qualname__.replace("<locals>.", "")

        def profiler() -> Profiler:
            return Profiler(not torch_records(), name=name, **options)

        if inspect.iscoroutinefunction(function):

            async def call_async(*args: Any, **kwargs: Any) -> Any:
                with profiler():
                    return await function(*args, **kwargs)

            return functools.wraps(function)(call_async)

        def call(*args: Any, **kwargs: Any) -> Any:
            with profiler():
                return function(*args, **kwargs)

        return functools.wraps(function)(call)

    return decorate

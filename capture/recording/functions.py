"""`@profile_function`: each call of a function is a run."""

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
    """Decorates a function, method or coroutine function: each call is recorded.

    `profile_name` is the function's name where there is none; repeated calls get directories with
    numbers. A call inside another recorded one runs as it is: torch profiles one at a time.
    `options` are those of `Profiler`. Raises TypeError for a generator, whose work is done after
    the call.
    """

    if callable(enabled):  # `@profile_function` without parentheses
        return profile_function()(enabled)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not inspect.isroutine(function) or isinstance(function, classmethod | staticmethod):
            raise TypeError(
                "profile_function decorates a function: below @classmethod and the like"
            )
        if not enabled:
            return function
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__}: a generator does its work after the call")
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

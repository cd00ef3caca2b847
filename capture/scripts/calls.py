"""Observes the outermost calls of modules without changing what Dynamo compiles.

Dynamo guards on hooks, and traces a function that replaces `Module.__call__`. Therefore only the
code object of `Module._wrapped_call_impl` is replaced, and restored while a module runs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from capture.recording.code import copy, disguised

NAME = "_wrapped_call_impl"


class OutermostCalls:
    """Calls `on_call(module)` before each outermost call of a module on the main thread.

    After a successful call, it calls `on_return(module)`. For calls on other threads, it calls
    `on_other_thread()`. None of these may raise. `inside` is true during a call.
    """

    def __init__(
        self,
        on_call: Callable[[object], None],
        on_return: Callable[[object], None],
        on_other_thread: Callable[[], None],
    ) -> None:
        self.inside = False
        self._on_call = on_call
        self._on_return = on_return
        self._on_other_thread = on_other_thread
        self._function: FunctionType | None = None
        self._code: CodeType | None = None
        self._plain: FunctionType | None = None
        self._process = os.getpid()

    def watch(self) -> bool:
        """Begin to watch. Return False if this torch lacks the function to replace."""
        global _watching
        import torch

        function = getattr(torch.nn.Module, NAME, None)
        if (
            not isinstance(function, FunctionType)
            or torch.nn.Module.__call__ is not function
            or function.__code__.co_freevars
        ):
            return False
        self._function, self._code = function, function.__code__
        self._plain = copy(function)
        self._ours = disguised(_wrapped_call_impl.__code__, function)
        _hide_from_dynamo(self._ours)
        _watching = self
        function.__code__ = self._ours
        return True

    def stop(self) -> None:
        """Stop watching."""
        if self._function and self._code:
            self._function.__code__ = self._code
        self._function = None

    def forked(self) -> None:
        """Watch this fork if its parent has been watched, and note the process in any case."""
        self._process = os.getpid()
        if self._plain:
            self.inside = False
            self.stop()
            self.watch()

    def called(self, module: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call whose code object was replaced, and notify the callbacks."""
        plain, function, code = self._plain, self._function, self._code
        assert plain
        assert code
        if os.getpid() != self._process:
            self.stop()  # a fork of the watched process
        elif threading.current_thread() is not threading.main_thread():
            not_compiled(self._on_other_thread)
        elif function and not self.inside:
            self.inside = True
            function.__code__ = code
            try:
                not_compiled(self._on_call, module)
                result = function(module, *args, **kwargs)
                not_compiled(self._on_return, module)
                return result
            finally:
                self.inside = False
                if self._function:
                    function.__code__ = self._ours
        return plain(module, *args, **kwargs)


def not_compiled(callback: Callable[..., None], *args: object) -> None:
    """Call `callback` without Dynamo, which may be compiling the caller's calls."""
    import torch

    frames: Any = torch._C._dynamo.eval_frame
    compiler = frames.set_eval_frame(None)
    try:
        callback(*args)
    finally:
        frames.set_eval_frame(compiler)


def _hide_from_dynamo(code: CodeType) -> None:
    """Let Dynamo run the replaced code as it is if a program compiles `Module.__call__`.

    The original code, which it calls, is then compiled as without this module.
    """
    import torch

    frames: Any = torch._C._dynamo.eval_frame
    ours = (outermost, OutermostCalls.called, not_compiled)
    with suppress(AttributeError):  # other versions of torch: Dynamo breaks its graph there
        skip = frames._FrameExecStrategy(frames._FrameAction.SKIP, frames._FrameAction.DEFAULT)
        for each in (code, *(function.__code__ for function in ours)):
            frames.set_code_exec_strategy(each, skip)


_watching: OutermostCalls | None = None


def _wrapped_call_impl(self: object, *args: Any, **kwargs: Any) -> Any:
    from capture.scripts.calls import outermost  # this code runs with torch's globals

    # The next line must be the fifth, as in torch's function: tracebacks name the line.
    return outermost(self, args, kwargs)


def outermost(module: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a call of a module. The replaced code calls this."""
    assert _watching
    return _watching.called(module, args, kwargs)

"""Profile a script as it is: no line of it changes."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from capture.arguments import create_profiler_from_args
from capture.errors import CaptureError, capture_extra
from capture.profiler import Profiler


def profile_script(asked: argparse.Namespace, command: list[str]) -> None:
    """Runs `command` (a script or `-m module`, with arguments); prints the run directory.

    What the script raises goes through, its exit code too, after the files are written. Raises
    CaptureError where there is no script, and where nothing was recorded.
    """
    if not command:
        raise CaptureError("no script: capture run [options] -- script.py arguments...")
    script, is_module = (command[1], True) if command[:1] == ["-m"] else (command[0], False)
    if not is_module and not Path(script).is_file():
        raise CaptureError(f"{script}: no such file")
    asked.profile_dir = asked.out or asked.profile_dir
    if asked.profile_with_stack is None:
        asked.profile_with_stack = False  # what the script compiles, it does so in the recording
    profiler = create_profiler_from_args(asked, asked.profile_name or Path(script).stem)
    profiler.describe(arguments={"command": command})
    sys.argv = command[1:] if is_module else command
    sys.path[0] = "" if is_module else str(Path(script).resolve().parent)
    try:
        with recording(profiler, from_start=asked.from_start):
            if is_module:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script, run_name="__main__")
    finally:
        if profiler.enabled and profiler.output_dir and profiler.output_dir.exists():
            print(profiler.output_dir)
    if asked.profile and not profiler.began:
        raise CaptureError(
            f"{script}: no torch.nn.Module was called, so nothing was recorded; "
            "--from-start records everything"
        )


@contextmanager
def recording(profiler: Profiler, from_start: bool) -> Iterator[None]:
    """In the body, the profiler records: from the first call of a module on, or at once."""
    with capture_extra():
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook

    with ExitStack() as begun:

        def begin() -> None:
            begun.enter_context(profiler)
            ended = register_optimizer_step_post_hook(lambda *_: profiler.step())
            begun.callback(ended.remove)

        if from_start:
            begin()
            yield
        elif profiler.enabled:
            with first_call(torch.nn.Module, begin):
                yield
        else:
            yield


@contextmanager
def first_call(module: type, begin: Callable[[], None]) -> Iterator[None]:
    """In the body, `begin` is called before the first call of any instance of `module`.

    A hook of torch's would do as well, but torch.compile guards on those that it sees.
    """
    call = module.__call__

    def begin_and_call(self: object, *args: object, **kwargs: object) -> object:
        module.__call__ = call  # type: ignore[method-assign]
        begin()
        return call(self, *args, **kwargs)

    module.__call__ = begin_and_call  # type: ignore[method-assign]
    try:
        yield
    finally:
        module.__call__ = call  # type: ignore[method-assign]

"""Profile a script as it is: no line of it changes."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from capture import run_directory
from capture.arguments import create_profiler_from_args
from capture.errors import CaptureError, capture_extra
from capture.profiler import Profiler
from capture.ranks import rank


def profile_script(asked: argparse.Namespace, command: list[str]) -> None:
    """Runs `command` (a script or `-m module`, with arguments); prints the run directory.

    What the script raises goes through, its exit code too, after the files are written. Raises
    CaptureError where there is no script, and where nothing was recorded.
    """
    script, is_module = command[0] if command else "", command[:1] == ["-m"]
    if is_module:
        script = command[1] if len(command) > 1 else ""
    if not script:
        raise CaptureError("no script: capture run [options] -- script.py arguments...")
    sys.argv = command[1:] if is_module else command
    sys.path[0] = "" if is_module else str(Path(script).resolve().parent)
    if not (find_spec(script) if is_module else Path(script).is_file()):
        raise CaptureError(f"{script}: no such {'module' if is_module else 'file'}")
    if asked.profile_with_stack is None:
        asked.profile_with_stack = False  # what the script compiles, it does so in the recording
    name = run_directory.file_name(asked.profile_name or Path(script).stem)
    asked.profile_dir = run_directory.choose(asked.out or asked.profile_dir, name, rank())
    profiler = create_profiler_from_args(asked, name)
    profiler.describe(arguments={"command": command})
    process = os.getpid()
    try:
        with (
            run_directory.provisional(asked.profile_dir),
            recording(profiler, from_start=asked.from_start),
        ):
            if is_module:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script, run_name="__main__")
    finally:
        if profiler.began and rank() == 0 and os.getpid() == process:
            print(profiler.output_dir)
    if asked.profile and not profiler.began:
        raise CaptureError(
            f"{script}: the main thread called no torch.nn.Module outside of a profiler of the "
            "script's own, so nothing was recorded; --from-start records everything"
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
    import torch

    call = module.__call__

    def begin_and_call(self: object, *args: object, **kwargs: object) -> object:
        # Torch's profiler ends on the thread that it began on, and is alone.
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and not torch._C._autograd._profiler_enabled():
            module.__call__ = call  # type: ignore[method-assign]
            begin()
        return call(self, *args, **kwargs)

    module.__call__ = begin_and_call  # type: ignore[method-assign]
    try:
        yield
    finally:
        module.__call__ = call  # type: ignore[method-assign]

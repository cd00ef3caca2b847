"""What a process leaves as it ends: valid files, at its exit and at SIGTERM."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_save: tuple[int, Callable[[], None]] | None = None  # in which process, and what
_writing = 0
_awaits = False


def save_at_sigterm(save: Callable[[], None]) -> None:
    """From now on, SIGTERM calls `save` first, where the program sets no handler of its own."""
    global _save
    if signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, _end):
        _save = os.getpid(), save
        signal.signal(signal.SIGTERM, _end)


def save_at_exit(save: Callable[[], None]) -> None:
    """Calls `save` as this process ends; multiprocessing's end without their exit handlers."""
    process = sys.modules.get("multiprocessing.process")
    if process and process.parent_process():
        from multiprocessing.util import Finalize

        Finalize(None, save, exitpriority=0)
    else:
        atexit.register(save)


def exit_without_destructors() -> None:
    """In a fork: ends it after its exit handlers and before the destructors of libraries.

    Kineto's waits for a thread that only the parent has.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)


@contextmanager
def writing() -> Iterator[None]:
    """In the body, files are written: SIGTERM waits for its end."""
    global _writing, _awaits
    _writing += 1
    try:
        yield
    finally:
        _writing -= 1
        if _awaits and not _writing:
            _awaits = False
            os.kill(os.getpid(), signal.SIGTERM)


def _end(number: int, _: FrameType | None) -> None:
    global _awaits
    process, save = _save or (0, None)
    is_ours = os.getpid() == process  # else a fork
    if _writing and is_ours:
        _awaits = True
        return
    try:
        if save and is_ours:
            save()
    finally:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

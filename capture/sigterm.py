"""SIGTERM leaves valid files, and ends the process as it does without."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_save: tuple[int, Callable[[], None]] | None = None  # in which process, and what
_writing = 0
_awaits = False


def save_at_sigterm(save: Callable[[], None]) -> None:
    """From now on, SIGTERM calls `save` first, where the program sets no handler of its own.

    Python sets handlers on the main thread only; on another one, this does nothing.
    """
    global _save
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, _end):
        _save = os.getpid(), save
        signal.signal(signal.SIGTERM, _end)


def forked() -> None:
    """In a fork: SIGTERM ends it at once, as it does without."""
    if signal.getsignal(signal.SIGTERM) is _end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


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
    is_ours = os.getpid() == process
    if _writing and is_ours:
        _awaits = True
        return
    try:
        if save and is_ours:
            save()
    finally:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

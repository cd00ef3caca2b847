"""Saves the files at SIGTERM and SIGHUP, which then end the process as usual."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(BaseException):
    """The signal that ended a process. Its message is the name of the signal."""


Save = Callable[[Stopped], None]

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_save: tuple[int, Save] | None = None  # the process id, and the function to call in that process
_writing = 0
_awaited: int | None = None  # a signal that arrived during `writing`


def save_at_sigterm(save: Save) -> None:
    """Call `save` when one of these signals arrives, unless the program has a handler for it.

    Python sets handlers only on the main thread. On another thread, this does nothing.
    """
    global _save
    if threading.current_thread() is not threading.main_thread():
        return
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, _end):
            _save = os.getpid(), save
            signal.signal(number, _end)


def forked() -> None:
    """Restore the default handlers in a fork, so that the signals end it at once."""
    for number in SIGNALS:
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def writing() -> Iterator[None]:
    """Delay the signals until the end of the body, which writes files."""
    global _writing, _awaited
    _writing += 1
    try:
        yield
    finally:
        _writing -= 1
        if _awaited and not _writing:
            number, _awaited = _awaited, None
            os.kill(os.getpid(), number)


def _end(number: int, _: FrameType | None) -> None:
    global _awaited
    process, save = _save or (0, None)
    is_ours = os.getpid() == process
    if _writing and is_ours:
        _awaited = number
        return
    try:
        if save and is_ours:
            save(Stopped(signal.Signals(number).name))
    finally:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

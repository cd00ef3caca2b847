"""SIGTERM and SIGHUP leave valid files, and end the process as they do without."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(BaseException):
    """What ended a process: its message names the signal."""


Save = Callable[[Stopped], None]

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_save: tuple[int, Save] | None = None  # in which process, and what
_writing = 0
_awaited: int | None = None  # a signal that came meanwhile


def save_at_sigterm(save: Save) -> None:
    """From now on, these signals call `save` first, where the program sets no handlers of its own.

    Python sets handlers on the main thread only; on another one, this does nothing.
    """
    global _save
    if threading.current_thread() is not threading.main_thread():
        return
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, _end):
            _save = os.getpid(), save
            signal.signal(number, _end)


def forked() -> None:
    """In a fork: they end it at once, as they do without."""
    for number in SIGNALS:
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def writing() -> Iterator[None]:
    """In the body, files are written: the signals wait for its end."""
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

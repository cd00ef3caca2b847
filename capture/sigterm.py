"""Saves the files at SIGTERM and SIGHUP, which then end the process as usual.

A fork has the default handlers until it records something itself.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from capture import wakeup


class Stopped(BaseException):
    """The signal that ended a process. Its message is the name of the signal."""


Save = Callable[[Stopped], None]

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_save: tuple[int, Save] | None = None  # the process id, and the function to call in that process
_writing = 0
_awaited: int | None = None  # a signal that arrived during `writing`
_is_ending = False
_watches_forks = False
_masks = threading.local()  # of threads that are forking


def save_at_sigterm(save: Save) -> None:
    """Call `save` when one of these signals arrives, unless the program has a handler for it.

    Python sets handlers only on the main thread. On another thread, this does nothing.
    """
    global _save, _watches_forks
    if threading.current_thread() is not threading.main_thread():
        return
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, _end):
            _save = os.getpid(), save
            signal.signal(number, _end)
    wakeup.ensure_handled(_end)
    if not _watches_forks:
        _watches_forks = True
        os.register_at_fork(before=_fork_begins, after_in_parent=_fork_ends, after_in_child=_forked)


def restore_default() -> None:
    """Let the signals end the process at once from now on, because its files are written."""
    if threading.current_thread() is threading.main_thread():
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
    global _awaited, _is_ending
    wakeup.begins()
    process, save = _save or (0, None)
    is_ours = os.getpid() == process
    if _writing and is_ours:
        _awaited = number
    if (_writing or _is_ending) and is_ours:
        return
    _is_ending = True
    try:
        if save and is_ours:
            save(Stopped(signal.Signals(number).name))
    finally:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def _fork_begins() -> None:
    """Delay the signals until the fork has its own handlers: it shares a descriptor until then."""
    _masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def _fork_ends() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _masks.before)


def _forked() -> None:
    global _writing, _awaited, _is_ending
    _writing, _awaited, _is_ending = 0, None, False
    try:
        restore_default()
        wakeup.forked()
    finally:
        _fork_ends()

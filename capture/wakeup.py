"""Makes a signal's Python handler run, even while the main thread is in a system call.

Python runs handlers on the main thread, between instructions. A signal that arrives just before a
system call does not interrupt the call, so a process that waits for a queue would never end. A
thread reads the descriptor to which Python's C handler writes (`signal.set_wakeup_fd`). It sends
the signal to the main thread again until the Python handler begins.

If no handler can begin, `last_words` is called on another thread. So a process that waits for a
collective in C++ still says which one.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType

Handler = Callable[[int, FrameType | None], None]

PATIENCE_S = 5.0  # C code that takes longer, such as a long matmul, ends without a trace
INTERVAL_S = 0.02

# Called if the main thread has run no Python code for `PATIENCE_S` after a signal: with True if the
# signal then ends the process, with False after Ctrl-C. It must not depend on the main thread.
last_words: Callable[[bool], None] | None = None

_reading = _ours = -1  # a pipe; Python writes the numbers of signals to the second
_begun = False


def ensure_handled(handler: Handler) -> None:
    """Make `handler` begin within `PATIENCE_S` of its signal, or end the process by the signal.

    Call this on the main thread. The handler must call `begins`. A descriptor that the program sets
    itself replaces this one until the program removes it.
    """
    global _reading, _ours
    if _ours != -1:
        return
    _reading, _ours = os.pipe()
    os.set_blocking(_ours, False)
    theirs = _set_wakeup_fd(_ours, warn_on_full_buffer=False)
    if theirs != -1:
        _set_wakeup_fd(theirs)
    signal.set_wakeup_fd = _set_and_hide
    # Not a `threading.Thread`, because programs list those and wait for them. While it waits, only
    # C functions are on its stack, so traces with stacks do not show it.
    received = iter(partial(os.read, _reading, 512), b"")
    insist = partial(_insist, threading.get_ident(), handler)
    # The system must not choose this thread for a signal that the program blocks on its threads.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    _thread.start_new_thread(deque, (map(insist, received), 0))
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begins() -> None:
    """Note that the handler has begun."""
    global _begun
    _begun = True


def forked() -> None:
    """Stop watching in a fork, which shares the descriptor with its parent."""
    global _reading, _ours, _begun
    if _ours != -1:
        theirs = _set_wakeup_fd(-1)
        if theirs != _ours:
            _set_wakeup_fd(theirs)
        for descriptor in (_reading, _ours):
            with suppress(OSError):  # the program has closed it
                os.close(descriptor)
    _reading = _ours = -1
    _begun = False


def _set_and_hide(fd: int, *, warn_on_full_buffer: bool = True) -> int:
    """Set the program's own descriptor, or restore ours. Return its last one."""
    if fd == -1:
        fd, warn_on_full_buffer = _ours, False
    last = _set_wakeup_fd(fd, warn_on_full_buffer=warn_on_full_buffer)
    return -1 if last == _ours else last


def _insist(main_thread: int, handler: Handler, received: bytes) -> None:
    """Send those of the received signals again that `handler` handles, until it begins."""
    for number in set(received):
        if number == signal.SIGINT:
            _thread.start_new_thread(_speak_after_interrupt, ())
        until = time.monotonic() + PATIENCE_S
        while not _begun and signal.getsignal(number) is handler:
            time.sleep(INTERVAL_S)
            # The handler may have begun, and held Python's lock for longer than the interval.
            if _begun:
                return
            if time.monotonic() > until:
                _speak(True)
                # Python sets handlers on the main thread only.
                ctypes.CDLL(None).signal(number, None)
                os.kill(os.getpid(), number)
            signal.pthread_kill(main_thread, number)


def _speak_after_interrupt() -> None:
    """Speak if Ctrl-C does not end the process: a launcher kills it some time later."""
    time.sleep(PATIENCE_S)
    _speak(False)


def _speak(is_end: bool) -> None:
    """Call `last_words`. Do not wait if that waits for a lock of the main thread."""
    spoken = _thread.allocate_lock()
    spoken.acquire()

    def speak() -> None:
        try:
            with suppress(Exception):
                if last_words:
                    last_words(is_end)
        finally:
            spoken.release()

    _thread.start_new_thread(speak, ())
    spoken.acquire(timeout=PATIENCE_S)


_set_wakeup_fd = signal.set_wakeup_fd

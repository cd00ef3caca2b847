"""Handling of Ctrl-C (SIGINT) and SIGTERM: both end a command cleanly, and neither is lost."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[list[signal.Signals]]:
    """Let both signals raise KeyboardInterrupt in the body. Yield a list of the received signals.

    DuckDB turns an interrupt into an error of its own, so the list is needed to recognise it.
    """
    received: list[signal.Signals] = []

    def receive(number: int, _: FrameType | None) -> None:
        received.append(signal.Signals(number))
        raise KeyboardInterrupt

    with _handled_by(receive):
        yield received


@contextmanager
def ending() -> Iterator[None]:
    """Let both signals end the process at once while it starts and nothing needs a cleanup."""

    def end(number: int, _: FrameType | None) -> None:
        os.write(2, f"error: stopped ({signal.Signals(number).name})\n".encode())
        os._exit(128 + number)

    with _handled_by(end):
        yield


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        if before[number] is not signal.SIG_IGN:  # ignored in background jobs of shell scripts
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number in SIGNALS:
            signal.signal(number, before[number])


@contextmanager
def deferred() -> Iterator[None]:
    """Defer both signals until the end of the body. Processes started in it never get Ctrl-C.

    A terminal sends Ctrl-C to all its processes. A process that is interrupted while it starts
    would print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():  # only it handles signals
        yield
        return
    waiting: list[int] = []
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, lambda number, _: waiting.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # processes inherit it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        for received in waiting:
            signal.raise_signal(received)

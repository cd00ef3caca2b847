"""Ctrl-C and SIGTERM: both end a command in order, and neither gets lost."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[list[signal.Signals]]:
    """Within, both raise KeyboardInterrupt, and are listed in what this yields.

    DuckDB passes an interrupt on as an error of its own: the list tells what it was.
    """
    received: list[signal.Signals] = []

    def receive(number: int, _: FrameType | None) -> None:
        received.append(signal.Signals(number))
        raise KeyboardInterrupt

    with _handled_by(receive):
        yield received


@contextmanager
def ending() -> Iterator[None]:
    """Within, both end the process at once: for its start, when nothing is to be put in order."""

    def end(number: int, _: FrameType | None) -> None:
        os.write(2, f"error: stopped ({signal.Signals(number).name})\n".encode())
        os._exit(128 + number)

    with _handled_by(end):
        yield


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        if before[number] is not signal.SIG_IGN:  # as in the background of a shell's script
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number in SIGNALS:
            signal.signal(number, before[number])


@contextmanager
def deferred() -> Iterator[None]:
    """Within, both wait, and processes started never see Ctrl-C, which a terminal sends to all.

    A process that is interrupted while it starts prints a traceback, as does one whose parent is.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are not its business
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

"""Ctrl-C and SIGTERM: both end a command in order, and neither gets lost."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[list[signal.Signals]]:
    """Within, both raise KeyboardInterrupt, and are listed in what this yields.

    DuckDB passes an interrupt on as an error of its own: the list tells what it was.
    """
    received: list[signal.Signals] = []

    def receive(number: int, _: FrameType | None) -> None:
        received.append(signal.Signals(number))
        raise KeyboardInterrupt

    before = {number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""A recording ends before the process has grown so much that writing it takes minutes."""

from __future__ import annotations

import _thread
import ctypes
import os
import time
from collections.abc import Callable

from capture.recording import trace
from capture.recording.memory import rss_bytes

# By which the process may grow while it records: to write what torch 2.13 holds in so much takes
# some 20 s, 3 GB of memory, and 70 to 120 MB of JSON.
LIMIT_BYTES = 100 << 20
PERIOD_S = 1.0  # between two looks at it


class SizeLimit:
    """Calls `end(why)` on the main thread once the process has grown too much.

    It looks now and then, whatever the program is doing, but not while `is_busy()`.
    """

    def __init__(self, end: Callable[[str], None], is_busy: Callable[[], bool]) -> None:
        self._end = end
        self._is_busy = is_busy
        self._is_over = False
        self._process = os.getpid()
        self._check = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self._check_now)
        self.start_anew()
        _thread.start_new_thread(self._watch, ())

    def start_anew(self) -> None:
        """Counts from the next look on: what was taken until now is no trace."""
        self._before: int | None = None

    def stop(self) -> None:
        """Looks no more."""
        self._is_over = True

    def _watch(self) -> None:
        while not self._is_over and os.getpid() == self._process:
            time.sleep(PERIOD_S)
            ctypes.pythonapi.Py_AddPendingCall(self._check, None)

    def _check_now(self, _: object) -> int:
        """Comes between any two instructions of the main thread."""
        if self._is_over or self._is_busy() or trace.at_work():
            return 0
        held = rss_bytes()
        if held is not None and self._before is None:
            self._before = held
        elif held is not None and self._before is not None and held - self._before > LIMIT_BYTES:
            self._end(f"the process has grown by {LIMIT_BYTES >> 20} MiB, as for a large trace")
        return 0

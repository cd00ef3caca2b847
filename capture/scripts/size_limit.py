"""Ends a recording before its trace is so large that writing it takes minutes."""

from __future__ import annotations

import _thread
import ctypes
import os
import time
from collections.abc import Callable

from capture.recording import trace
from capture.recording.memory import anonymous_bytes

# Growth of the process that ends the recording. With this much data, torch 2.13 needs some 20 s and
# 3 GB of memory to write 70 to 120 MB of JSON.
LIMIT_BYTES = 100 << 20
PERIOD_S = 1.0  # between checks


class SizeLimit:
    """Calls `end(reason)` on the main thread once the process has grown too much.

    It checks periodically, whatever the program is doing, except while `is_busy()`.
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
        """Measure growth from the next check, because memory used until now is not the trace's."""
        self._before: int | None = None

    def stop(self) -> None:
        """Stop checking."""
        self._is_over = True

    def _watch(self) -> None:
        while not self._is_over and os.getpid() == self._process:
            time.sleep(PERIOD_S)
            ctypes.pythonapi.Py_AddPendingCall(self._check, None)

    def _check_now(self, _: object) -> int:
        """Check the size. Python calls this between instructions of the main thread."""
        if self._is_over or self._is_busy() or trace.in_own_call():
            return 0
        held, before = anonymous_bytes(), self._before
        if held is None or before is None:
            self._before = held
        elif held - before > LIMIT_BYTES:
            growth = f"{LIMIT_BYTES >> 20} MiB of memory"
            self._end(f"the process has grown by {growth}, so the trace is large")
        return 0

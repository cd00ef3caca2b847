"""The end of a process: exit handlers of Python, multiprocessing and C."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Callable
from typing import NoReturn


class SaveAtExit:
    """Calls `save` when this process ends.

    Processes of multiprocessing skip atexit, and drop finalizers that were registered before their
    setup. They keep functions that were registered to run after a fork.
    """

    def __init__(self, save: Callable[[], None]) -> None:
        self._save = save
        atexit.register(save)
        if "multiprocessing.util" in sys.modules:
            from multiprocessing import util

            self._finalize()
            util.register_after_fork(self, SaveAtExit._finalize)

    def _finalize(self) -> None:
        from multiprocessing.util import Finalize

        Finalize(None, self._save, exitpriority=0)


def save_at_os_exit(save: Callable[[int], None]) -> None:
    """Make `os._exit(code)` call `save(code)` first. `multiprocessing` and forks use `os._exit`."""
    leave = os._exit

    def save_and_leave(status: int) -> NoReturn:
        try:
            save(status)
        finally:
            leave(status)

    os._exit = save_and_leave


def exit_without_destructors() -> None:
    """End a fork after its exit handlers, but before the destructors of C++ libraries.

    Otherwise Kineto's destructor would wait for a thread that only the parent has.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)
        libc.on_exit(libc.fcloseall, None)  # runs first, and writes the output of C code

"""A program's own sessions of torch's profiler, kept as traces of the run.

Torch runs one profiler at a time, and exports a result once. So we copy what the program exports,
and save a session that it has not exported before the next one begins, or at the end.
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from capture.errors import say
from capture.output.run_directory import appearing
from capture.recording.trace import at_work

METHODS = ("_prepare_trace", "__exit__", "export_chrome_trace")


class OwnSessions:
    """Hears of a program's own sessions, and saves them.

    `on_begin` is called before one begins, and `path()` gives the file for its trace.
    """

    def __init__(self, on_begin: Callable[[], None], path: Callable[[], Path]) -> None:
        self._on_begin = on_begin
        self._path = path
        self._process = os.getpid()
        self._unsaved: Any = None
        self._saved: WeakKeyDictionary[Any, Path] = WeakKeyDictionary()
        self._export: Callable[..., None] | None = None

    def listen(self) -> bool:
        """Begins to listen. Returns False if this torch lacks the methods that this needs."""
        from torch.autograd.profiler import profile

        if not all(hasattr(profile, method) for method in METHODS):
            return False
        prepare, leave, export = (getattr(profile, method) for method in METHODS)
        self._export = export

        def prepare_trace(session: Any) -> None:
            if self._is_foreign():
                self.save()
                self._on_begin()
            prepare(session)

        def exit_(session: Any, *error: Any) -> Any:
            left = leave(session, *error)
            if self._is_foreign() and session.enabled:
                self._unsaved = session
            return left

        def export_chrome_trace(session: Any, path: str, *args: Any, **kwargs: Any) -> Any:
            if not self._is_foreign():
                return export(session, path, *args, **kwargs)
            if saved := self._saved.pop(session, None):
                _copy(saved, Path(path))
                return None
            exported = export(session, path, *args, **kwargs)
            self._keep(session, Path(path))
            return exported

        replacements = (prepare_trace, exit_, export_chrome_trace)
        for method, replacement in zip(METHODS, replacements, strict=True):
            replacement.__doc__ = getattr(profile, method).__doc__
            setattr(profile, method, replacement)
        return True

    def stop(self) -> None:
        """Hears no more: what a program profiles as it exits is its own."""
        self._process = 0

    def forked(self) -> None:
        """In a fork: its parent saves what there was before."""
        self._process = os.getpid()
        self._unsaved = None
        self._saved.clear()

    def save(self) -> None:
        """Saves the last session, if the program has not exported it."""
        session, self._unsaved = self._unsaved, None
        if session is None or session.kineto_results is None or not self._export:
            return
        try:
            path = self._path()
            with appearing(path) as temporary:
                plain = temporary.with_suffix(".json")
                try:
                    self._export(session, str(plain))
                    _copy(plain, temporary)
                finally:
                    plain.unlink(missing_ok=True)
            self._saved[session] = path
        except Exception as error:
            say(f"the program's own profile could not be saved: {error}")

    def _keep(self, session: Any, exported: Path) -> None:
        """Copies what the program has exported."""
        if self._unsaved is session:
            self._unsaved = None
        try:
            with appearing(self._path()) as temporary:
                _copy(exported, temporary)
        except Exception as error:
            say(f"the program's own profile could not be copied: {error}")

    def _is_foreign(self) -> bool:
        """Whether it is the program that uses torch's profiler, in this process."""
        return not at_work() and os.getpid() == self._process


def _copy(source: Path, target: Path) -> None:
    """Copies a trace, packed or not as the names end."""
    read = gzip.open if source.suffix == ".gz" else open
    write = gzip.open if target.suffix == ".gz" else open
    with read(source, "rb") as trace, write(target, "wb") as copy:
        shutil.copyfileobj(trace, copy)

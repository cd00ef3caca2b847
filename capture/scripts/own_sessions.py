"""Keeps the program's own sessions of torch's profiler as traces of the run.

Torch runs one profiler at a time and exports a result only once. Therefore a trace that the program
exports is copied. A session that it does not export is saved before the next one begins, or at the
end.
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
from capture.output.run_directory import atomic_write
from capture.recording.trace import in_own_call

METHODS = ("_prepare_trace", "__exit__", "export_chrome_trace")
LOST = (
    "torch lost a profile of the program, because another profiler began inside it, or because it "
    "began and ended on different threads"
)


class OwnSessions:
    """Observes and saves the program's own profiler sessions.

    `on_begin` is called before a session begins, and `path()` returns the path for its trace.
    `has_lost` is true if torch has lost a session. An export of such a session ends the process.
    """

    def __init__(self, on_begin: Callable[[], None], path: Callable[[], Path]) -> None:
        self.has_lost = False
        self._on_begin = on_begin
        self._path = path
        self._process = os.getpid()
        self._unsaved: Any = None
        self._saved: WeakKeyDictionary[Any, Path] = WeakKeyDictionary()
        self._export: Callable[..., None] | None = None

    def listen(self) -> bool:
        """Begin to observe. Return False if this torch lacks the methods to replace."""
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
                if _is_lost(session):
                    self.has_lost = True
                    say(LOST)
                else:
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
        """Stop observing. Sessions of exit handlers are not saved."""
        self._process = 0

    def forked(self) -> None:
        """Reset the state in a fork. The parent saves earlier sessions."""
        self._process = os.getpid()
        self.has_lost = False
        self._unsaved = None
        self._saved.clear()

    def save(self) -> None:
        """Save the last session, unless the program has exported it."""
        session, self._unsaved = self._unsaved, None
        if session is None or session.kineto_results is None or not self._export:
            return
        try:
            path = self._path()
            with atomic_write(path) as temporary:
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
        """Copy a trace that the program has exported."""
        if self._unsaved is session:
            self._unsaved = None
        try:
            with atomic_write(self._path()) as temporary:
                _copy(exported, temporary)
        except Exception as error:
            say(f"the program's own profile could not be copied: {error}")

    def _is_foreign(self) -> bool:
        """Return whether the program, not `capture`, is using torch's profiler in this process."""
        return not in_own_call() and os.getpid() == self._process


def _is_lost(session: Any) -> bool:
    """Return whether torch has no trace of a session that has ended."""
    return bool(session.kineto_results and session.kineto_results.trace_start_ns() == 0)


def _copy(source: Path, target: Path) -> None:
    """Copy a trace. A suffix .gz of a path means that the file is compressed."""
    read = gzip.open if source.suffix == ".gz" else open
    write = gzip.open if target.suffix == ".gz" else open
    with read(source, "rb") as trace, write(target, "wb") as copy:
        shutil.copyfileobj(trace, copy)

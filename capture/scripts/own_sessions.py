"""A program's own sessions of torch's profiler, kept as traces of the run.

Torch runs one profiler at a time, and Kineto's result can be exported once. So what the program
exports is copied; what it does not export is saved before its next session, or at the end.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from capture.errors import warn
from capture.output.run_directory import appearing
from capture.recording.trace import at_work

METHODS = ("_prepare_trace", "__exit__", "export_chrome_trace")


class OwnSessions:
    """Hears of a program's own sessions, and saves them.

    `on_begin` is called before one begins, and `path()` gives the file for its trace.
    `count` is how many traces have been kept.
    """

    def __init__(self, on_begin: Callable[[], None], path: Callable[[], Path]) -> None:
        self.count = 0
        self._on_begin = on_begin
        self._path = path
        self._unsaved: Any = None
        self._export: Callable[..., None] | None = None

    def listen(self) -> bool:
        """Begins to listen; False where torch has not what that takes."""
        from torch.autograd.profiler import profile

        if not all(hasattr(profile, method) for method in METHODS):
            return False
        prepare, leave, export = (getattr(profile, method) for method in METHODS)
        self._export = export

        def prepare_trace(session: Any) -> None:
            if not at_work():
                self.save()
                self._on_begin()
            prepare(session)

        def exit_(session: Any, *error: Any) -> Any:
            left = leave(session, *error)
            if not at_work() and session.enabled:
                self._unsaved = session
            return left

        def export_chrome_trace(session: Any, path: str, *args: Any, **kwargs: Any) -> Any:
            exported = export(session, path, *args, **kwargs)
            if not at_work():
                self._copy(Path(path))
                self._unsaved = None
            return exported

        replacements = (prepare_trace, exit_, export_chrome_trace)
        for method, replacement in zip(METHODS, replacements, strict=True):
            replacement.__doc__ = getattr(profile, method).__doc__
            setattr(profile, method, replacement)
        return True

    def save(self) -> None:
        """Saves the last session, if the program has not exported it."""
        session, self._unsaved = self._unsaved, None
        if session is None or session.kineto_results is None or not self._export:
            return
        try:
            with appearing(self._path()) as temporary:
                plain = temporary.with_suffix(".json")
                try:
                    self._export(session, str(plain))
                    _pack(plain, temporary)
                finally:
                    plain.unlink(missing_ok=True)
            self.count += 1
        except Exception as error:
            warn(f"the program's own profile could not be saved: {error}")

    def _copy(self, exported: Path) -> None:
        try:
            with appearing(self._path()) as temporary:
                if exported.suffix == ".gz":
                    shutil.copyfile(exported, temporary)
                else:
                    _pack(exported, temporary)
            self.count += 1
        except Exception as error:
            warn(f"the program's own profile could not be copied: {error}")


def _pack(plain: Path, packed: Path) -> None:
    with plain.open("rb") as trace, gzip.open(packed, "wb", compresslevel=6) as copy:
        shutil.copyfileobj(trace, copy)

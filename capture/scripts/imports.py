"""Calls functions after a program has imported a module, without importing the module itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

Callback = Callable[[], None]


def after_imports(callbacks: dict[str, Callback]) -> Callback:
    """Call `callbacks[name]` once module `name` has been imported; at once if it already is.

    Return a function that cancels the remaining callbacks.
    """
    waiting = {name: call for name, call in callbacks.items() if name not in sys.modules}
    finder = _Finder(waiting)
    sys.meta_path.insert(0, finder)
    for name in callbacks.keys() - waiting.keys():
        callbacks[name]()

    def stop() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)

    return stop


class _Finder:
    """A finder that delegates to the other finders and observes the execution of modules."""

    def __init__(self, waiting: dict[str, Callback]) -> None:
        self._waiting = waiting

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        call = self._waiting.pop(name, None)  # another finder of this class must not recurse
        if call is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)):
                self._listen(spec, call)
                return spec
        self._waiting[name] = call
        return None

    def _listen(self, spec: ModuleSpec, call: Callback) -> None:
        loader = spec.loader
        if loader is None or not hasattr(loader, "exec_module"):
            return
        execute = loader.exec_module

        def execute_and_notify(module: ModuleType) -> None:
            loader.__dict__.pop("exec_module", None)
            try:
                execute(module)
            except BaseException:
                self._waiting[spec.name] = call
                raise
            call()

        loader.exec_module = execute_and_notify  # type: ignore[method-assign]

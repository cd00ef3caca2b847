"""The process groups of a program that runs under `capture run`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

MODULES = ("torch.distributed", "torch.distributed.distributed_c10d")
NAME = "destroy_process_group"


@contextmanager
def before_leaving(callback: Callable[[], None]) -> Iterator[None]:
    """Call `callback` before the program destroys a process group while the body runs."""
    modules = [sys.modules[name] for name in MODULES if name in sys.modules]
    destroy: Any = next((getattr(module, NAME, None) for module in modules), None)
    if destroy is None:
        yield
        return

    @wraps(destroy)
    def destroy_process_group(*args: Any, **kwargs: Any) -> Any:
        callback()
        return destroy(*args, **kwargs)

    for module in modules:
        setattr(module, NAME, destroy_process_group)
    try:
        yield
    finally:
        for module in modules:
            setattr(module, NAME, destroy)

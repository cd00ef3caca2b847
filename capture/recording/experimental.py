"""The experimental options of torch's profiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from torch._C._profiler import _ExperimentalConfig

LIST_OPTIONS = ("profiler_metrics", "performance_events", "performance_metrics")
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
ALL_THREADS = {"profile_all_threads": True}


def parse(settings: Iterable[str], option: str = "--experimental-config") -> dict[str, Any]:
    """Parse settings of an option, of the form `NAME=VALUE`. Commas separate the items of a list.

    Raises CaptureError for a setting of any other form.
    """
    options: dict[str, Any] = {}
    for setting in settings:
        name, is_pair, value = setting.partition("=")
        if not (name and is_pair):
            raise UsageError(f"{option} {setting}: must be NAME=VALUE")
        options[name] = (
            [item for item in value.split(",") if item]
            if name in LIST_OPTIONS
            else BOOLEANS.get(value.lower(), value)
        )
    return options


def config_of(options: Mapping[str, Any], all_threads: bool) -> _ExperimentalConfig | None:
    """Return torch's object for the options, or None if it would set nothing.

    `all_threads` records the operators of all threads. It is ignored if this torch does not support
    it. Raises CaptureError for an option or value that this torch does not accept.
    """
    from torch._C._profiler import _ExperimentalConfig

    for wanted in ((ALL_THREADS if all_threads else {}) | dict(options), dict(options)):
        try:
            return _ExperimentalConfig(**wanted) if wanted else None
        except TypeError:
            continue  # this torch may not support ALL_THREADS
    import torch

    settings = ", ".join(f"{name}={value}" for name, value in options.items())
    raise CaptureError(
        f"torch {torch.__version__} does not accept the experimental options {settings}"
    )

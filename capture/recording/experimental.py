"""The experimental options of torch's profiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError

if TYPE_CHECKING:
    from torch._C._profiler import _ExperimentalConfig

LISTS = ("profiler_metrics", "performance_events")
TRUTH = {"true": True, "false": False, "1": True, "0": False}
ALL_THREADS = {"profile_all_threads": True}


def parsed(settings: Iterable[str]) -> dict[str, Any]:
    """Parse settings of the form `NAME=VALUE`. Lists are separated by commas.

    Raises CaptureError for a setting of another form.
    """
    options: dict[str, Any] = {}
    for setting in settings:
        name, is_pair, value = setting.partition("=")
        if not (name and is_pair):
            raise CaptureError(f"--experimental-config {setting}: must be NAME=VALUE")
        options[name] = (
            [each for each in value.split(",") if each]
            if name in LISTS
            else TRUTH.get(value.lower(), value)
        )
    return options


def config_of(options: Mapping[str, Any], all_threads: bool) -> _ExperimentalConfig | None:
    """Return torch's object for the options. `all_threads` records the operators of all threads.

    Return None without options, and without `all_threads` or a torch that supports it. Raises
    CaptureError for an option or value that this torch does not accept.
    """
    from torch._C._profiler import _ExperimentalConfig

    for wanted in ((ALL_THREADS if all_threads else {}) | dict(options), dict(options)):
        try:
            return _ExperimentalConfig(**wanted) if wanted else None
        except TypeError:
            continue  # an older torch
    import torch

    settings = ", ".join(f"{name}={value}" for name, value in options.items())
    raise CaptureError(
        f"torch {torch.__version__} does not accept the experimental options {settings}"
    )

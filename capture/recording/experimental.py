"""Torch's experimental options of the profiler, by their names."""

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
    """The options that `NAME=VALUE` texts set. Values of lists stand between commas.

    Raises CaptureError for a text of another form.
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
    """Torch's object for the options; with `all_threads`, operators of all threads are recorded.

    None for no options, also where this torch cannot record all threads. Raises CaptureError for an
    option that this torch does not have, or a value that it does not take.
    """
    from torch._C._profiler import _ExperimentalConfig

    for wanted in ((ALL_THREADS if all_threads else {}) | dict(options), dict(options)):
        try:
            return _ExperimentalConfig(**wanted) if wanted else None
        except TypeError:
            continue  # an older torch
    import torch

    said = ", ".join(f"{name}={value}" for name, value in options.items())
    raise CaptureError(f"torch {torch.__version__} does not take the experimental options {said}")

"""Cuspy: torch's own collector of CUDA activities and of the GPU's performance counters.

It came with torch 2.15, as `torch.profiler.CuspyConfig`, and needs the package `cupti-python`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from capture.errors import CaptureError

METRICS = "performance_metrics"
TRACE_FORMAT = "trace_format"
FORMATS = ("json", "pftrace")
NO_CUDA = "Cuspy records only CUDA, which is not recorded here"
# Settings of `PerformanceMetricsConfig`; the others are those of `CuspyConfig`.
OF_METRICS = ("sampling_interval_ms", "lookback_window_ms")


def suffix_of(settings: Mapping[str, Any] | None) -> str:
    """Return the suffix of the traces. Raises CaptureError for an unknown format."""
    wanted = (settings or {}).get(TRACE_FORMAT, "json")
    if wanted not in FORMATS:
        raise CaptureError(f"{TRACE_FORMAT}={wanted}: must be {' or '.join(FORMATS)}")
    return ".pftrace" if wanted == "pftrace" else ".trace.json.gz"


def missing() -> str | None:
    """Return why Cuspy cannot be used here, or None if it can."""
    import torch

    if not hasattr(torch.profiler, "CuspyConfig"):
        return f"torch {torch.__version__} has no Cuspy, so Kineto records CUDA; Cuspy needs 2.15"
    try:
        import_module("torch.profiler._cuspy")
    except ImportError as error:
        return f"Cuspy cannot be used, so Kineto records CUDA: {error}"
    return None


def activity(settings: Mapping[str, Any]) -> dict[Any, Any]:
    """Return torch's activity CUDA, collected by Cuspy with these settings.

    `performance_metrics` are names of the GPU's counters. Raises CaptureError for a setting that
    this torch does not accept.
    """
    from torch import profiler

    names = settings.get(METRICS)
    of_metrics = {key: _number(settings[key]) for key in OF_METRICS if key in settings}
    if of_metrics and not names:
        raise CaptureError(f"{', '.join(of_metrics)}: needs {METRICS}")
    others = {
        key: value
        for key, value in settings.items()
        if key not in (METRICS, TRACE_FORMAT, *OF_METRICS)
    }
    torch_profiler: Any = profiler  # mypy knows the profiler of torch 2.13
    try:
        configs = [torch_profiler.CuspyConfig(**others)]
        if names:
            configs.append(
                torch_profiler.PerformanceMetricsConfig(metric_names=names, **of_metrics)
            )
        config = torch_profiler.ProfilerActivityConfig(profiler_configs=configs)
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{key}={value}" for key, value in settings.items())
        raise CaptureError(f"torch does not accept {given} for Cuspy: {error}") from error
    return {profiler.ProfilerActivity.CUDA: config}


def _number(value: Any) -> Any:
    with suppress(TypeError, ValueError):
        return float(value)
    return value

"""Offloading, quantization, attention backends and caches of a pipeline.

They make a pipeline faster or smaller, like compiling. They change it after it was built or loaded.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError, capture_extra, first_line, warn
from capture.recording.denoisers import denoisers

if TYPE_CHECKING:
    import torch
    from diffusers import DiffusionPipeline

MODEL, SEQUENTIAL, GROUP = "model", "sequential", "group"
OFFLOADS = (MODEL, SEQUENTIAL, GROUP)
# Each quantization with its torchao class.
QUANTIZATIONS = {
    "int8wo": "Int8WeightOnlyConfig",
    "int8dq": "Int8DynamicActivationInt8WeightConfig",
    "float8wo": "Float8WeightOnlyConfig",
    "float8dq": "Float8DynamicActivationFloat8WeightConfig",
}
CACHE_DIT = "cache-dit"
DIFFUSERS_CACHES = {"first-block": "FirstBlockCacheConfig", "taylorseer": "TaylorSeerCacheConfig"}
CACHES = (CACHE_DIT, *DIFFUSERS_CACHES)
NOTHING_TO_OFFLOAD = "on the CPU there is nothing to offload, so --offload has no effect"
UNSUPPORTED = (AssertionError, ImportError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Tuning:
    """Changes to a pipeline. `run.json` has the same keys.

    offload       kind of parts that stay in host memory while idle, one of `OFFLOADS`
    quantization  quantization of the denoiser's weights, one of `QUANTIZATIONS`
    attention     attention backend of the denoiser, as diffusers names it
    cache         cache that reuses results between denoising steps, one of `CACHES`
    """

    offload: str | None = None
    quantization: str | None = None
    attention: str | None = None
    cache: str | None = None


NO_TUNING = Tuning()


def tune(pipeline: DiffusionPipeline, tuning: Tuning, device: torch.device) -> None:
    """Move the pipeline to `device`, or set up offloading to it, and apply the other changes.

    Raises CaptureError if the pipeline or the machine does not support a change.
    """
    if not tuning.offload:
        pipeline.to(device)
    if tuning.quantization:
        quantize(pipeline, tuning.quantization)
    if tuning.attention:
        set_attention(pipeline, tuning.attention, device)
    if tuning.cache:
        enable_cache(pipeline, tuning.cache)
    if tuning.offload:
        offload(pipeline, tuning.offload, device)


def offload(pipeline: DiffusionPipeline, kind: str, device: torch.device) -> None:
    """Keep idle parts in host memory. On a CPU, warn that this has no effect.

    The parts are models (`model`), single layers (`sequential`), or layers that are copied while
    others compute, if the device can do that (`group`).
    """
    if device.type == "cpu":
        warn(NOTHING_TO_OFFLOAD)
        return
    with capture_extra():
        import accelerate  # noqa: F401
    if kind == MODEL:
        pipeline.enable_model_cpu_offload()
    elif kind == SEQUENTIAL:
        pipeline.enable_sequential_cpu_offload()
    else:
        _method(pipeline, "enable_group_offload")(
            onload_device=device,
            offload_type="leaf_level",
            use_stream=device.type in ("cuda", "xpu"),
        )


def quantize(pipeline: DiffusionPipeline, kind: str) -> None:
    """Quantize the linear layers of the denoiser with torchao."""
    torchao = _installed("torchao.quantization", "torchao")
    message = f"{type(pipeline).__name__}: cannot be quantized to {kind}"
    for denoiser in _denoisers(pipeline):
        try:
            torchao.quantize_(denoiser, getattr(torchao, QUANTIZATIONS[kind])())
        except UNSUPPORTED as error:
            raise CaptureError(f"{message}: {first_line(error)}") from error


def set_attention(pipeline: DiffusionPipeline, backend: str, device: torch.device) -> None:
    """Set the attention backend of the denoiser, and try it with a small input."""
    import torch

    for denoiser in _denoisers(pipeline):
        choose = _method(denoiser, "set_attention_backend")
        if not any(
            hasattr(getattr(part, "processor", None), "_attention_backend")
            for part in denoiser.modules()
        ):
            raise CaptureError(f"{type(denoiser).__name__}: its attention has only one backend")
        try:
            choose(backend)
            # diffusers checks only the installed packages. A call shows whether the device works.
            from diffusers.models.attention_dispatch import dispatch_attention_fn

            inputs = torch.zeros(1, 16, 2, 64, device=device, dtype=denoiser.dtype)
            dispatch_attention_fn(inputs, inputs, inputs, backend=backend)
        except UNSUPPORTED as error:
            choose("native")  # also resets the default backend of the process
            raise CaptureError(f"attention backend {backend}: {first_line(error)}") from error


def enable_cache(pipeline: DiffusionPipeline, kind: str) -> None:
    """Reuse results of earlier steps in the denoiser, with the defaults of the cache."""
    try:
        if kind == CACHE_DIT:
            _enable_cache_dit(pipeline)
        else:
            for denoiser in _denoisers(pipeline):
                _enable_diffusers_cache(denoiser, kind)
    except UNSUPPORTED as error:
        raise CaptureError(
            f"{type(pipeline).__name__}: cannot use the cache {kind}: {first_line(error)}"
        ) from error


def _enable_diffusers_cache(denoiser: torch.nn.Module, kind: str) -> None:
    import diffusers

    config = getattr(diffusers, DIFFUSERS_CACHES[kind], None)
    if config is None:
        raise CaptureError(f"diffusers {diffusers.__version__} does not have the cache {kind}")
    _method(denoiser, "enable_cache")(config())
    _, *parts = denoiser.modules()
    if not any(hasattr(part, "_diffusers_hook") for part in parts):
        raise CaptureError(f"{type(denoiser).__name__}: the cache {kind} finds no layer to cache")


def _enable_cache_dit(pipeline: DiffusionPipeline) -> None:
    """Enable cache-dit. If the denoiser has at most eight blocks, compute fewer blocks per step.

    By default, cache-dit computes the first eight blocks in every step. Tiny denoisers have fewer.
    """
    os.environ.setdefault("CACHE_DIT_LOG_LEVEL", "WARNING")
    with redirect_stdout(sys.stderr):  # cache-dit logs to stdout as soon as it is imported
        cache_dit = _installed("cache_dit", "cache-dit")
        config = cache_dit.DBCacheConfig()
        fewest = min(_blocks(denoiser) for denoiser in _denoisers(pipeline))
        config.Fn_compute_blocks = max(1, min(config.Fn_compute_blocks, fewest - 1))
        cache_dit.enable_cache(pipeline, cache_config=config)


def _blocks(denoiser: torch.nn.Module) -> int:
    from torch.nn import ModuleList

    return sum(len(child) for child in denoiser.children() if isinstance(child, ModuleList))


def _denoisers(pipeline: DiffusionPipeline) -> list[Any]:
    found = list(denoisers(pipeline).values())
    if not found:
        raise CaptureError(f"{type(pipeline).__name__}: has no denoiser")
    return found


def _method(owner: object, name: str) -> Any:
    """Return a method. Raise CaptureError if this class or version of diffusers lacks it."""
    import diffusers

    if not hasattr(owner, name):
        raise CaptureError(
            f"{type(owner).__name__} of diffusers {diffusers.__version__} has no {name}"
        )
    return getattr(owner, name)


def _installed(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CaptureError(
            f"cannot import {package}; install it with: pip install {package}"
        ) from error

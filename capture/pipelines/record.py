"""Profile one call of a diffusers pipeline into a run directory."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from capture.device import Stopwatch, timed
from capture.errors import CaptureError, capture_extra, warn
from capture.pipelines.calls import (
    Inputs,
    denoiser,
    generate,
    image_asked_for,
    known_inputs,
    labelled_stages,
)
from capture.recording import compilation
from capture.recording.denoising import denoising_steps
from capture.recording.profiler import Profiler

if TYPE_CHECKING:
    import torch
    from diffusers import DiffusionPipeline

TIMED_CALLS = 3
NOT_TIMED = (
    "the first call with this batch compiles again; that was the profiled one, so there is no "
    "same call without the profiler"
)


@dataclass(frozen=True)
class Compile:
    """How torch.compile is asked to compile the denoiser."""

    mode: str | None = None
    fullgraph: bool = False


def record(
    pipeline: DiffusionPipeline,
    profiler: Profiler,
    *,
    model: str,
    inputs: Inputs,
    warmup: int = 1,
    warmup_batch: int | None = None,
    compiled: Compile | None = None,
    offload: bool = False,
    arguments: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Call `pipeline` to warm up, to time it and to profile it, all with the same inputs.

    Warm-up calls can have another batch, which makes a compiled pipeline compile again inside the
    measured call. Returns what is in `run.json`; where the profiler is not enabled, the same, with
    the times alone. Raises CaptureError if files cannot be written, for sizes that the pipeline
    would round, and for a pipeline without a part to compile.
    """
    with capture_extra():
        import diffusers  # noqa: F401
        import torch

    check_sizes(pipeline, inputs)
    device = pipeline._execution_device  # `device` is where offloaded parts wait
    if compiled:
        compile_denoiser(pipeline, compiled, device.type)
    warm = replace(inputs, batch=warmup_batch or inputs.batch)
    if warmup and compiled and warm.batch != inputs.batch:
        warn(
            f"the warm-up has batch {warm.batch}, the measured run {inputs.batch}: torch.compile "
            "will compile again inside the measured run"
        )

    facts: dict[str, Any] = {
        "model": model,
        "pipeline": type(pipeline).__name__,
        "mode": "compiled" if compiled else "eager",
        "compile": compiled and {"part": denoiser(pipeline), **asdict(compiled)},
        "dtype": str(pipeline.dtype).removeprefix("torch."),
        "device": str(device),
        "offload": offload or None,
        "arguments": dict(arguments or {}),
        "warmup": warmup,
        "warmup_batch": warm.batch if warmup else None,
        "warmup_times_ns": [],
        **known_inputs(pipeline, inputs),
    }
    profiler.describe(**facts)
    for _ in range(warmup):
        with image_asked_for(pipeline), timed(device, facts["warmup_times_ns"]):
            generate(pipeline, warm)
    if compiled and warm.batch != inputs.batch:
        facts["missing"] = {"wall_time_ns": NOT_TIMED}
    else:
        facts |= times_without_profiler(pipeline, inputs, device)
    profiler.describe(**facts)
    with profiler, labelled_stages(pipeline), torch.no_grad():
        generate(pipeline, inputs)
    return profiler.run if profiler.enabled else facts


def times_without_profiler(
    pipeline: DiffusionPipeline, inputs: Inputs, device: torch.device
) -> dict[str, Any]:
    """Times of calls as they are, ns, and of the denoising steps of one call more."""
    calls_ns: list[int] = []
    for _ in range(TIMED_CALLS):
        with timed(device, calls_ns):
            generate(pipeline, inputs)
    steps = Stopwatch(device)
    with denoising_steps(steps.timed):
        generate(pipeline, inputs)
    return {
        "wall_time_ns": round(median(calls_ns)),
        "wall_times_ns": calls_ns,
        "step_times_ns": steps.times_ns(),
    }


def compile_denoiser(pipeline: DiffusionPipeline, compiled: Compile, device_type: str) -> None:
    """Have torch.compile compile the part that runs in each step, whatever it is called."""
    name = denoiser(pipeline)
    if name is None:
        raise CaptureError(f"{type(pipeline).__name__}: no transformer and no unet to compile")
    check_compiler(device_type)
    if device_type == "cpu":
        compilation.name_cpu_kernels()
    getattr(pipeline, name).compile(mode=compiled.mode, fullgraph=compiled.fullgraph)
    compilation.remember_all()


def check_compiler(device_type: str) -> None:
    """Raise CaptureError where what Inductor compiles with is not installed."""
    if device_type != "cpu":
        if importlib.util.find_spec("triton") is None:
            raise CaptureError(
                "torch.compile needs Triton here; install it with: pip install triton"
            )
        return
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler

    try:
        get_cpp_compiler()
    except InvalidCxxCompiler as error:
        raise CaptureError(
            "torch.compile needs a C++ compiler on the CPU: install g++, or name one in CXX"
        ) from error


def check_sizes(pipeline: DiffusionPipeline, inputs: Inputs) -> None:
    """Raise CaptureError for sizes that the pipeline would round: run.json would be wrong."""
    processor = getattr(pipeline, "image_processor", None)
    unit = processor.config.vae_scale_factor if processor else 1
    if inputs.height % unit or inputs.width % unit:
        raise CaptureError(f"height and width must be multiples of {unit} for this pipeline")

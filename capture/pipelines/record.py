"""Profiles one call of a diffusers pipeline into a run directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING, Any

from capture.device import Stopwatch, timed
from capture.errors import CaptureError, capture_extra, warn
from capture.output.ranks import rank
from capture.pipelines.calls import (
    Inputs,
    arguments_of,
    explain_missing_image,
    frames_of_a_latent,
    generate,
    known_inputs,
)
from capture.pipelines.compiling import Compile, compile_parts
from capture.pipelines.images import read_image, save_images
from capture.pipelines.tuning import NO_TUNING, NOTHING_TO_OFFLOAD, Tuning
from capture.recording.denoisers import denoisers
from capture.recording.denoising import denoising_steps
from capture.recording.profiler import Profiler

if TYPE_CHECKING:
    import torch
    from diffusers import DiffusionPipeline

TIMED_CALLS = 3
NOT_TIMED = (
    "the profiled call was the first with these inputs and may have compiled again, so no "
    "unprofiled call is comparable"
)


def record(
    pipeline: DiffusionPipeline,
    profiler: Profiler,
    *,
    model: str,
    inputs: Inputs,
    warmup: int = 1,
    warm_inputs: Inputs | None = None,
    compiled: Compile | None = None,
    tuning: Tuning = NO_TUNING,
    save: bool = False,
    arguments: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Call `pipeline` to warm it up, to time it and to profile it, with the same inputs.

    Warm-up calls can have different inputs (`warm_inputs`). If the sizes differ, a compiled
    pipeline may compile again inside the measured call. With `save`, the images of the profiled
    call are saved in the run directory. `tuning` describes changes that have already been made to
    the pipeline. Returns the content of `run.json`. If the profiler is disabled, returns only the
    facts and times that are known without it. Raises CaptureError if files cannot be written, if
    the pipeline would round or does not accept an input, or if it lacks a part to compile.
    """
    with capture_extra():
        import diffusers  # noqa: F401
        import torch

    check_inputs(pipeline, inputs)
    device = pipeline._execution_device  # `pipeline.device` is the device of idle offloaded parts
    compiling = compile_parts(pipeline, compiled, device.type) if compiled else None
    warm = warm_inputs or inputs
    others = different_inputs(warm, inputs)
    # The number of steps, the prompt and the seed do not change the shape of a tensor.
    sizes = [name for name in others if name not in ("steps", "prompt", "seed")]
    if warmup and compiled and sizes:
        differences = " and ".join(
            f"{name.replace('_', ' ')} {getattr(warm, name)} instead of {getattr(inputs, name)}"
            for name in sizes
        )
        warn(
            f"the warm-up has {differences}: "
            "torch.compile may compile again inside the measured run"
        )

    facts: dict[str, Any] = {
        "model": model,
        "pipeline": type(pipeline).__name__,
        "mode": "compiled" if compiled else "eager",
        "compile": compiling,
        "dtype": str(pipeline.dtype).removeprefix("torch."),
        "device": str(device),
        **asdict(tuning),
        "arguments": dict(arguments or {}),
        "warmup": warmup,
        "warmup_batch": warm.batch if warmup else None,
        "warmup_inputs": others if warmup and others else None,
        "warmup_times_ns": [],
        **known_inputs(pipeline, inputs),
    }
    missing = {}
    if tuning.offload and device.type == "cpu":
        missing["offload"] = NOTHING_TO_OFFLOAD
        facts["offload"] = None
    facts["missing"] = missing
    profiler.describe(**facts)
    for _ in range(warmup):
        with explain_missing_image(pipeline, warm), timed(device, facts["warmup_times_ns"]):
            generate(pipeline, warm)
    if compiled and sizes:
        facts["missing"] = missing | {"wall_time_ns": NOT_TIMED}
    else:
        facts |= times_without_profiler(pipeline, inputs, device)
    profiler.describe(**facts)
    with profiler, torch.no_grad():
        made = generate(pipeline, inputs)
        if profiler.step_num:  # fewer than requested if `strength` is below 1
            profiler.describe(steps=profiler.step_num)
    if save and profiler.enabled and profiler.output_dir and rank() == 0:
        save_images(made, profiler.output_dir)
    return profiler.run if profiler.enabled else facts


def different_inputs(one: Inputs, other: Inputs) -> dict[str, Any]:
    """Return the inputs of `one` that differ from `other`, by name."""
    theirs = asdict(other)
    return {name: value for name, value in asdict(one).items() if value != theirs[name]}


def times_without_profiler(
    pipeline: DiffusionPipeline, inputs: Inputs, device: torch.device
) -> dict[str, Any]:
    """Return times in ns of unprofiled calls, and of the denoising steps of one more call."""
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


def check_inputs(pipeline: DiffusionPipeline, inputs: Inputs) -> None:
    """Raise CaptureError for an unreadable image or for less than one denoising step.

    Also raise it for sizes that the pipeline would round, because run.json would then be wrong.
    """
    if inputs.image:
        read_image(inputs.image, inputs.height, inputs.width, inputs.seed)
    if inputs.strength is not None:
        if "strength" not in arguments_of(pipeline):
            raise CaptureError(
                f"{type(pipeline).__name__} has no parameter strength; omit --strength"
            )
        if int(inputs.steps * inputs.strength) < 1:
            raise CaptureError(
                f"with --strength {inputs.strength:g}, less than one of {inputs.steps} denoising "
                "steps would run; raise --strength or --steps"
            )
    unit = _size_unit(pipeline)
    if inputs.height % unit or inputs.width % unit:
        raise CaptureError(
            f"height {inputs.height} and width {inputs.width}: "
            f"must be multiples of {unit} for this pipeline"
        )
    frames_per_latent = frames_of_a_latent(pipeline)
    if inputs.frames is not None and (inputs.frames - 1) % frames_per_latent:
        raise CaptureError(
            f"{inputs.frames} frames: must be one more than a multiple of "
            f"{frames_per_latent} for this pipeline"
        )


def _size_unit(pipeline: DiffusionPipeline) -> int:
    """Return the number of pixels that must divide height and width."""
    if processor := getattr(pipeline, "image_processor", None):
        return int(processor.config.vae_scale_factor)
    if not (processor := getattr(pipeline, "video_processor", None)):
        return 1
    denoiser = next(iter(denoisers(pipeline).values()), None)
    patch = getattr(getattr(denoiser, "config", None), "patch_size", 1)  # latents per token
    latents = patch[-1] if isinstance(patch, tuple | list) else patch
    return int(processor.config.vae_scale_factor) * int(latents or 1)

"""Profile one call of a diffusers pipeline into a run directory."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capture import run_directory
from capture.denoising import Inputs, generate, labelled_stages
from capture.device import device_name, timed
from capture.errors import CaptureError, capture_extra
from capture.profile import DEFAULT_OPTIONS, ProfilerOptions, profiling
from capture.run_json import RunJson

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline


def record(
    pipeline: DiffusionPipeline,
    directory: Path,
    *,
    model: str,
    inputs: Inputs,
    warmup: int = 1,
    options: ProfilerOptions = DEFAULT_OPTIONS,
    arguments: Mapping[str, Any] | None = None,
) -> RunJson:
    """Call `pipeline` to warm up, to time it and to profile it; fill `directory` with the result.

    Returns what it wrote to `run.json`. Raises CaptureError if the directory is in use or cannot
    be written, and for sizes that the pipeline would round.
    """
    with capture_extra():
        import diffusers
        import torch

    check_sizes(pipeline, inputs)
    run_directory.create(directory)
    name = directory.resolve().name
    device = pipeline.device

    warmup_times_ns: list[int] = []
    for _ in range(warmup):
        with timed(device, warmup_times_ns):
            generate(pipeline, inputs)

    wall_time_ns: list[int] = []
    step_times_ns: list[int] = []
    with timed(device, wall_time_ns):
        generate(pipeline, inputs, around_step=lambda _: timed(device, step_times_ns))

    started_at = datetime.now(UTC)
    profiled_wall_time_ns: list[int] = []
    with (
        profiling(run_directory.trace_path(directory, name), options),
        timed(device, profiled_wall_time_ns),
        labelled_stages(pipeline),
    ):
        generate(pipeline, inputs, around_step=profiler_step)

    run = RunJson(
        name=name,
        model=model,
        pipeline=type(pipeline).__name__,
        mode="eager",
        dtype=str(pipeline.dtype).removeprefix("torch."),
        device=str(device),
        device_name=device_name(device),
        framework="pytorch",
        framework_version=torch.__version__,
        diffusers_version=diffusers.__version__,
        python_version=platform.python_version(),
        arguments=dict(arguments or {}),
        started_at=started_at.isoformat(),
        warmup=warmup,
        warmup_times_ns=warmup_times_ns,
        wall_time_ns=wall_time_ns[0],
        step_times_ns=step_times_ns,
        profiled_wall_time_ns=profiled_wall_time_ns[0],
        **asdict(inputs),
    )
    run_directory.write_run_json(directory, run)
    return run


def profiler_step(number: int) -> AbstractContextManager[object]:
    """Mark a step as torch.profiler.profile.step() would.

    Its own steps leave no time between them: the first would hold the text encoding, and one more
    than there are denoising steps the decoding.
    """
    from torch.profiler import record_function

    return record_function(f"ProfilerStep#{number}")


def check_sizes(pipeline: DiffusionPipeline, inputs: Inputs) -> None:
    """Raise CaptureError for sizes that the pipeline would round: run.json would be wrong."""
    unit = pipeline.image_processor.config.vae_scale_factor
    if inputs.height % unit or inputs.width % unit:
        raise CaptureError(f"height and width must be multiples of {unit} for this pipeline")

"""The commands that profile a pipeline: from what was asked to a run directory."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from math import ceil
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from capture.errors import CaptureError
from capture.output import run_directory
from capture.output.ranks import rank
from capture.pipelines.calls import Inputs, default_of, frames_of_a_latent
from capture.pipelines.compiling import DENOISER, Compile
from capture.pipelines.load import load
from capture.pipelines.measured import measure_pipeline
from capture.pipelines.record import record
from capture.pipelines.tuning import Tuning
from capture.recording.arguments import create_profiler_from_args
from capture.recording.profiler import Profiler
from capture.units import counted, duration

if TYPE_CHECKING:
    from diffusers import DiffusionPipeline

STEPS, STEPS_PROFILED = 28, 3
TINY_SIZE, TINY_TOKENS = 64, 64
DEFAULT_SIZE = 1024
NEED_COMPILE = (
    "compile_mode",
    "fullgraph",
    "dynamic",
    "regional",
    "compile_parts",
    "compile_cache",
)
WARM = ("batch", "height", "width", "tokens", "steps")  # of warm-up calls, where others are wanted


def profile_pipeline(asked: argparse.Namespace) -> None:
    """Profiles one call; prints the run directory, or without a profile the times."""
    compiled = compile_of(asked)
    if asked.strength is not None and asked.image is None:
        raise CaptureError("--strength needs --image")
    asked.profile_dir = asked.out or asked.profile_dir
    model = f"{asked.command}-tiny" if asked.tiny else asked.model
    name = asked.profile_name or (
        asked.profile_dir.resolve().name
        if asked.profile_dir
        else f"{Path(model).name}-{'compiled' if compiled else 'eager'}"
    )
    profiler = create_profiler_from_args(asked, name)
    with ExitStack() as held:
        if asked.profile and asked.profile_dir:  # before seconds of imports
            run_directory.check_empty(asked.profile_dir)
            held.enter_context(run_directory.provisional(asked.profile_dir))
        # Keeps transformers from remarking on image processors that are not used here.
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        held.callback(_print_directory, profiler)  # also where it was stopped
        held.enter_context(profiler.preparing())
        tuning = Tuning(asked.offload, asked.quantize, asked.attention, asked.cache)
        pipeline = load(
            asked.command,
            asked.model,
            seed=asked.seed,
            dtype=asked.dtype,
            tuning=tuning,
            with_image=asked.image is not None,
        )
        if asked.profile and not asked.steps:
            print(
                f"{STEPS_PROFILED} denoising steps, to keep the trace small: see --steps",
                file=sys.stderr,
            )
        inputs = _inputs(asked, pipeline)
        warm = {name: value for name in WARM if (value := getattr(asked, f"warmup_{name}"))}
        if "tokens" in warm:
            warm["max_sequence_length"] = warm.pop("tokens")
        warm_inputs = replace(inputs, **warm)
        if asked.measure:
            measure_pipeline(
                pipeline,
                asked.measure,
                inputs=inputs,
                warm_inputs=warm_inputs,
                warmup=asked.warmup,
                calls=asked.measured_calls,
                compiled=compiled,
            )
            return
        run = record(
            pipeline,
            profiler,
            model=model,
            inputs=inputs,
            warmup=asked.warmup,
            warm_inputs=warm_inputs,
            compiled=compiled,
            tuning=tuning,
            save=asked.save,
            arguments=_said(asked),
        )
    times = sys.stderr if asked.profile else sys.stdout  # stdout: what was asked for
    for line in summary(run):
        print(line, file=times)


def compile_of(asked: argparse.Namespace) -> Compile | None:
    """What to compile; None for nothing. Raises CaptureError for options that need --compile."""
    if asked.compile and not asked.eager:
        return Compile(
            asked.compile_mode,
            asked.fullgraph,
            asked.dynamic,
            asked.regional,
            tuple(asked.compile_parts or (DENOISER,)),
        )
    if not asked.eager and (without := [name for name in NEED_COMPILE if vars(asked)[name]]):
        raise CaptureError(f"--{without[0].replace('_', '-')} needs --compile")
    return None


def _inputs(asked: argparse.Namespace, pipeline: DiffusionPipeline) -> Inputs:
    """The inputs that were asked for. Raises CaptureError for a file without prompts."""
    prompts: str | tuple[str, ...] = asked.prompt
    if asked.prompts:
        try:
            lines = asked.prompts.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CaptureError(f"{asked.prompts}: cannot be read: {error}") from error
        prompts = tuple(line.strip() for line in lines if line.strip())
        if not prompts:
            raise CaptureError(f"{asked.prompts}: no prompt in it; each line is one")
    strength = asked.strength or (default_of(pipeline, "strength") if asked.image else None)
    steps = asked.steps or (STEPS_PROFILED if asked.profile else STEPS)
    if strength and not asked.steps:  # that share of the steps runs
        steps = ceil(steps / strength)
    return Inputs(
        prompt=prompts,
        batch=asked.batch or (1 if isinstance(prompts, str) else len(prompts)),
        height=asked.height or _size(asked, pipeline, "height"),
        width=asked.width or _size(asked, pipeline, "width"),
        steps=steps,
        max_sequence_length=asked.tokens or (TINY_TOKENS if asked.tiny else None),
        seed=asked.seed,
        guidance=asked.guidance,
        negative_prompt=asked.negative_prompt,
        frames=asked.frames or _frames(asked, pipeline),
        image=asked.image,
        strength=strength,
    )


def _print_directory(profiler: Profiler) -> None:
    if profiler.began and rank() == 0:
        print(profiler.output_dir)


def summary(run: dict[str, Any]) -> list[str]:
    """What people want to know of a run at once: its times, and what was compiled."""
    lines = []
    if call_ns := run.get("wall_time_ns"):
        each_ns = median(run["step_times_ns"] or [0])
        lines.append(f"{duration(call_ns)} a call, {duration(each_ns)} a step (median)")
    if profiled_ns := run.get("profiled_wall_time_ns"):
        lines.append(f"{duration(profiled_ns)} profiled, on {run['device_name']}")
    if did := run.get("compilation"):
        compiled = counted(len(did["compilations"]), "compilation")
        again = counted(did["recompiles"], "recompilation")
        cached = did.get("graphs_from_cache")
        from_cache = f", {counted(cached, 'graph')} from the cache" if cached else ""
        lines.append(f"{compiled} in {did['seconds']:.1f} s, {again}{from_cache}")
        lines += [
            f"compiled inside the measured run: {compilation['reason'] or 'the first time'}"
            for compilation in did["compilations"]
            if compilation["in_measured_run"]
        ]
    return lines


def _said(asked: argparse.Namespace) -> dict[str, Any]:
    """The command and its options, defaults included."""
    return {
        key: str(value) if isinstance(value, Path) else value
        for key, value in vars(asked).items()
        if value is not None and key != "eager"
    }


def _size(asked: argparse.Namespace, pipeline: DiffusionPipeline, name: str) -> int:
    """`height` or `width` where none is asked for: what the pipeline itself would take."""
    if asked.tiny:
        return TINY_SIZE
    if isinstance(size := default_of(pipeline, name), int):
        return size
    latents = getattr(pipeline, "default_sample_size", None)
    scale = getattr(pipeline, "vae_scale_factor", None)
    return latents * scale if isinstance(latents, int) and scale else DEFAULT_SIZE


def _frames(asked: argparse.Namespace, pipeline: DiffusionPipeline) -> int | None:
    """Frames where none are asked for: the pipeline's own number, of a tiny one two latents."""
    own = default_of(pipeline, "num_frames")
    if own is None:
        return None
    return 1 + frames_of_a_latent(pipeline) if asked.tiny else int(own)

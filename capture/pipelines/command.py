"""The commands that profile a pipeline: from the command line to a run directory."""

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

from capture.errors import CaptureError, UsageError
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
WARM = ("batch", "height", "width", "tokens", "steps")  # inputs with an option --warmup-…


def profile_pipeline(args: argparse.Namespace) -> None:
    """Profile one call and print the run directory. With --no-profile, print the times."""
    compiled = compile_of(args)
    if args.strength is not None and args.image is None:
        raise UsageError("--strength needs --image")
    args.profile_dir = args.out or args.profile_dir
    model = f"{args.command}-tiny" if args.tiny else args.model
    name = args.profile_name or (
        args.profile_dir.resolve().name
        if args.profile_dir
        else f"{Path(model).name}-{'compiled' if compiled else 'eager'}"
    )
    profiler = create_profiler_from_args(args, name)
    with ExitStack() as cleanup:
        if args.profile and args.profile_dir:  # fail before the imports, which take seconds
            run_directory.check_empty(args.profile_dir)
            cleanup.enter_context(run_directory.provisional(args.profile_dir))
        # Silence transformers' warnings about image processors, which are not used here.
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        cleanup.callback(_print_directory, profiler)  # also runs after an interrupt
        cleanup.enter_context(profiler.preparing())
        tuning = Tuning(args.offload, args.quantize, args.attention, args.cache)
        pipeline = load(
            args.command,
            args.model,
            seed=args.seed,
            dtype=args.dtype,
            tuning=tuning,
            with_image=args.image is not None,
        )
        if args.profile and not args.steps:
            print(
                f"{STEPS_PROFILED} denoising steps, to keep the trace small (see --steps)",
                file=sys.stderr,
            )
        inputs = _inputs(args, pipeline)
        warm = {name: value for name in WARM if (value := getattr(args, f"warmup_{name}"))}
        if "tokens" in warm:
            warm["max_sequence_length"] = warm.pop("tokens")
        warm_inputs = replace(inputs, **warm)
        if args.measure:
            measure_pipeline(
                pipeline,
                args.measure,
                inputs=inputs,
                warm_inputs=warm_inputs,
                warmup=args.warmup,
                calls=args.measured_calls,
                compiled=compiled,
            )
            return
        run = record(
            pipeline,
            profiler,
            model=model,
            inputs=inputs,
            warmup=args.warmup,
            warm_inputs=warm_inputs,
            compiled=compiled,
            tuning=tuning,
            save=args.save,
            arguments=_option_values(args),
        )
    times = sys.stderr if args.profile else sys.stdout  # stdout is for the result of the command
    for line in summary(run):
        print(line, file=times)


def compile_of(args: argparse.Namespace) -> Compile | None:
    """Return the parts to compile and their options, or None.

    Raise UsageError for options that need --compile.
    """
    if args.compile and not args.eager:
        return Compile(
            args.compile_mode,
            args.fullgraph,
            args.dynamic,
            args.regional,
            tuple(args.compile_parts or (DENOISER,)),
        )
    if not args.eager and (without := [name for name in NEED_COMPILE if vars(args)[name]]):
        raise UsageError(f"--{without[0].replace('_', '-')} needs --compile")
    return None


def _inputs(args: argparse.Namespace, pipeline: DiffusionPipeline) -> Inputs:
    """Return the requested inputs. Raise CaptureError if the file of prompts has no prompt."""
    prompts: str | tuple[str, ...] = args.prompt
    if args.prompts:
        try:
            lines = args.prompts.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CaptureError(f"{args.prompts}: cannot be read: {error}") from error
        prompts = tuple(line.strip() for line in lines if line.strip())
        if not prompts:
            raise CaptureError(f"{args.prompts}: has no prompts; write one prompt per line")
    strength = args.strength or (default_of(pipeline, "strength") if args.image else None)
    steps = args.steps or (STEPS_PROFILED if args.profile else STEPS)
    if strength and not args.steps:  # only that share of the steps runs
        steps = ceil(steps / strength)
    return Inputs(
        prompt=prompts,
        batch=args.batch or (1 if isinstance(prompts, str) else len(prompts)),
        height=args.height or _size(args, pipeline, "height"),
        width=args.width or _size(args, pipeline, "width"),
        steps=steps,
        max_sequence_length=args.tokens or (TINY_TOKENS if args.tiny else None),
        seed=args.seed,
        guidance=args.guidance,
        negative_prompt=args.negative_prompt,
        frames=args.frames or _frames(args, pipeline),
        image=args.image,
        strength=strength,
    )


def _print_directory(profiler: Profiler) -> None:
    if profiler.began and rank() == 0:
        print(profiler.output_dir)


def summary(run: dict[str, Any]) -> list[str]:
    """Return lines with the times of a run and its compilations."""
    lines = []
    if call_ns := run.get("wall_time_ns"):
        each_ns = median(run["step_times_ns"] or [0])
        lines.append(f"{duration(call_ns)} per call, {duration(each_ns)} per step (median)")
    if profiled_ns := run.get("profiled_wall_time_ns"):
        lines.append(f"{duration(profiled_ns)} profiled, on {run['device_name']}")
    if did := run.get("compilation"):
        compiled = counted(len(did["compilations"]), "compilation")
        again = counted(did["recompiles"], "recompilation")
        cached = did.get("graphs_from_cache")
        from_cache = f", {counted(cached, 'graph')} from the cache" if cached else ""
        lines.append(f"{compiled} in {did['seconds']:.1f} s, {again}{from_cache}")
        lines += [
            f"compiled inside the measured run: {compilation['reason'] or 'first compilation'}"
            for compilation in did["compilations"]
            if compilation["in_measured_run"]
        ]
    return lines


def _option_values(args: argparse.Namespace) -> dict[str, Any]:
    """Return the command and its options, including defaults."""
    return {
        key: str(value) if isinstance(value, Path) else value
        for key, value in vars(args).items()
        if value is not None and key != "eager"
    }


def _size(args: argparse.Namespace, pipeline: DiffusionPipeline, name: str) -> int:
    """Return the default `height` or `width`: the pipeline's own, unless it is a tiny one."""
    if args.tiny:
        return TINY_SIZE
    if isinstance(size := default_of(pipeline, name), int):
        return size
    latents = getattr(pipeline, "default_sample_size", None)
    scale = getattr(pipeline, "vae_scale_factor", None)
    return latents * scale if isinstance(latents, int) and scale else DEFAULT_SIZE


def _frames(args: argparse.Namespace, pipeline: DiffusionPipeline) -> int | None:
    """Return the default number of frames: the pipeline's, or two latents of a tiny pipeline."""
    own = default_of(pipeline, "num_frames")
    if own is None:
        return None
    return 1 + frames_of_a_latent(pipeline) if args.tiny else int(own)

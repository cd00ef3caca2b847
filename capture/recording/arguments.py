"""The `--profile…` flags of a command or script, and the profiler made from them."""

from __future__ import annotations

import argparse
from argparse import BooleanOptionalAction
from pathlib import Path
from typing import Any

from capture.recording.activities import ACTIVITIES
from capture.recording.experimental import parse
from capture.recording.profiler import Profiler

DEFAULTS: dict[str, Any] = {
    "profile": False,
    "profile_name": None,
    "profile_dir": None,
    "profile_activities": None,
    "profile_with_stack": False,
    "profile_record_shapes": True,
    "profile_memory": False,
    "profile_with_flops": False,
    "profile_with_modules": False,
    "profile_acc_events": False,
    "profile_experimental_config": [],
    "profile_execution_trace": False,
    "profile_cuspy": False,
    "profile_cuspy_config": [],
}
SCHEDULE = {
    "profile_skip_first": 0,
    "profile_wait": 0,
    "profile_warmup": 1,
    "profile_active": 3,
    "profile_repeat": 1,
}


def add_profiler_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the profiler's flags to a parser. `create_profiler_from_args` reads them."""
    flags = parser.add_argument_group("profiler")
    flags.add_argument(
        "--profile",
        action=BooleanOptionalAction,
        help="Profile the run, or run without a profiler.",
    )
    flags.add_argument("--profile-name", metavar="NAME", help="Name of the run and its files.")
    flags.add_argument(
        "--profile-dir",
        type=Path,
        metavar="DIR",
        help="The run directory (default: NAME in $TRACEHOUSE_PROFILE_DIR, in "
        "$CACHE_DIT_TORCH_PROFILER_DIR, or in ./profiles).",
    )
    flags.add_argument(
        "--profile-activities",
        nargs="+",
        type=str.upper,
        choices=ACTIVITIES,
        help="Activities to record; MEM is the CUDA allocator's history (default: the CPU and the "
        "accelerator, if there is one).",
    )
    flags.add_argument(
        "--profile-with-stack", action=BooleanOptionalAction, help="Record Python frames."
    )
    flags.add_argument(
        "--profile-record-shapes",
        action=BooleanOptionalAction,
        help="Record the shapes and types of the operators' inputs.",
    )
    for name, meaning in (
        ("memory", "Record the allocations of operators."),
        ("with-flops", "Let torch count floating-point operations, for key_averages()."),
        ("with-modules", "Record TorchScript modules."),
        ("acc-events", "Keep the events of all cycles for key_averages()."),
        ("execution-trace", "Also write an execution trace: the inputs and outputs of operators."),
    ):
        short = [] if name == "memory" else [f"--{name}"]
        flags.add_argument(
            *short,
            f"--profile-{name}",
            dest=f"profile_{name.replace('-', '_')}",
            action=BooleanOptionalAction,
            help=meaning,
        )
    flags.add_argument(
        "--experimental-config",
        "--profile-experimental-config",
        dest="profile_experimental_config",
        action="append",
        metavar="K=V",
        help="Set one of torch's experimental options, such as verbose=true; repeatable.",
    )
    flags.add_argument(
        "--cuspy",
        "--profile-cuspy",
        dest="profile_cuspy",
        action=BooleanOptionalAction,
        help="Let torch's Cuspy record CUDA instead of Kineto, where torch has it.",
    )
    flags.add_argument(
        "--cuspy-config",
        "--profile-cuspy-config",
        dest="profile_cuspy_config",
        action="append",
        metavar="K=V",
        help="Set one of Cuspy's options, such as performance_metrics=NAME,NAME or "
        "trace_format=pftrace; repeatable.",
    )
    for name, meaning in (
        ("skip-first", "Steps to skip before the first cycle"),
        ("wait", "Steps per cycle that are not profiled"),
        ("warmup", "Steps per cycle that are profiled and discarded"),
        ("active", "Steps per cycle that are recorded"),
        ("repeat", "Number of cycles; 0 repeats until the run ends"),
    ):
        key = f"profile_{name.replace('-', '_')}"
        flags.add_argument(
            *(["--skip-first"] if name == "skip-first" else []),
            f"--profile-{name}",
            dest=key,
            type=int,
            metavar="N",
            help=f"{meaning} (default: {SCHEDULE[key]}).",
        )
    parser.set_defaults(**DEFAULTS, **SCHEDULE)


def create_profiler_from_args(
    args: argparse.Namespace, profile_name: str | None = None, **options: Any
) -> Profiler:
    """Return the profiler for the parsed flags. `options` of `Profiler` override the flags.

    A flag that is missing in the namespace has its default. The defaults of the schedule are
    skip_first 0, wait 0, warmup 1, active 3, repeat 1. If all flags of the schedule are None, there
    is no schedule and everything is recorded. Denoising steps of a diffusers pipeline count as
    steps. A body without steps is recorded completely. Raises CaptureError if `Profiler` does not
    accept the flags.
    """
    values = DEFAULTS | SCHEDULE | vars(args)
    parameters: dict[str, Any] = {
        "enabled": bool(values["profile"]),
        "activities": values["profile_activities"],
        "output_dir": values["profile_dir"],
        "name": profile_name or values["profile_name"],
        "with_stack": values["profile_with_stack"],
        "record_shapes": values["profile_record_shapes"],
        "profile_memory": values["profile_memory"],
        "with_flops": values["profile_with_flops"],
        "with_modules": values["profile_with_modules"],
        "acc_events": values["profile_acc_events"],
        "experimental_config": parse(values["profile_experimental_config"] or []),
        "execution_trace": values["profile_execution_trace"],
    }
    settings = parse(values["profile_cuspy_config"] or [], "--cuspy-config")
    if settings or values["profile_cuspy"]:
        parameters["cuspy"] = settings
    if any(values[flag] is not None for flag in SCHEDULE):
        for flag, default in SCHEDULE.items():
            parameters[flag.removeprefix("profile_")] = (
                default if values[flag] is None else values[flag]
            )
    return Profiler(**parameters | options)

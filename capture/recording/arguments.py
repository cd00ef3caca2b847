"""The `--profile…` flags of a command or script, and the profiler that they ask for."""

from __future__ import annotations

import argparse
from argparse import BooleanOptionalAction
from pathlib import Path
from typing import Any

from capture.recording.activities import ACTIVITIES
from capture.recording.experimental import parsed
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
}
SCHEDULE = {
    "profile_skip_first": 0,
    "profile_wait": 0,
    "profile_warmup": 1,
    "profile_active": 3,
    "profile_repeat": 1,
}


def add_profiler_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags to a parser; `create_profiler_from_args` reads them."""
    flags = parser.add_argument_group("profiler")
    flags.add_argument("--profile", action=BooleanOptionalAction, help="Profile the run.")
    flags.add_argument("--profile-name", metavar="NAME", help="Name of the run and its files.")
    flags.add_argument(
        "--profile-dir",
        type=Path,
        metavar="DIR",
        help="The run directory; without it, one called NAME in $TRACEHOUSE_PROFILE_DIR or "
        "$CACHE_DIT_TORCH_PROFILER_DIR, else in ./profiles.",
    )
    flags.add_argument(
        "--profile-activities",
        nargs="+",
        type=str.upper,
        choices=ACTIVITIES,
        help="What to record; without it, the CPU and what accelerator there is.",
    )
    flags.add_argument(
        "--profile-with-stack", action=BooleanOptionalAction, help="Record Python frames."
    )
    flags.add_argument(
        "--profile-record-shapes",
        action=BooleanOptionalAction,
        help="Record the operators' inputs.",
    )
    for name, meaning in (
        ("memory", "Record the operators' allocations."),
        ("with-flops", "Let torch count floating point operations."),
        ("with-modules", "Record TorchScript modules."),
        ("acc-events", "Keep the events of all cycles, for key_averages()."),
        ("execution-trace", "Also record the operators' inputs and outputs, in a file of its own."),
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
        help="One of torch's experimental options, such as verbose=true; repeatable.",
    )
    for name, meaning in (
        ("skip-first", "Steps before the first cycle"),
        ("wait", "Steps of a cycle that are not profiled"),
        ("warmup", "Steps of a cycle that are profiled and thrown away"),
        ("active", "Steps of a cycle that are recorded"),
        ("repeat", "Cycles; 0: as many as there are steps for"),
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
    """The profiler that the flags ask for; `options` are those of `Profiler`, and go first.

    Flags that the namespace lacks have their defaults: wait 0, warmup 1, active 3, repeat 1; where
    all four of these are None, there is no schedule, and all is recorded. A pipeline's denoising
    steps are the steps; a body without any is recorded whole.
    """
    said = DEFAULTS | SCHEDULE | vars(args)
    wanted: dict[str, Any] = {
        "enabled": bool(said["profile"]),
        "activities": said["profile_activities"],
        "output_dir": said["profile_dir"],
        "name": profile_name or said["profile_name"],
        "with_stack": said["profile_with_stack"],
        "record_shapes": said["profile_record_shapes"],
        "profile_memory": said["profile_memory"],
        "with_flops": said["profile_with_flops"],
        "with_modules": said["profile_with_modules"],
        "acc_events": said["profile_acc_events"],
        "experimental_config": parsed(said["profile_experimental_config"] or []),
        "execution_trace": said["profile_execution_trace"],
    }
    if any(said[flag] is not None for flag in SCHEDULE):
        for flag, default in SCHEDULE.items():
            wanted[flag.removeprefix("profile_")] = default if said[flag] is None else said[flag]
    return Profiler(**wanted | options)

"""The options of the commands that profile a pipeline."""

import argparse
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from capture.pipelines.calls import Inputs
from capture.pipelines.compiling import MODES, PARTS
from capture.pipelines.tuning import CACHES, MODEL, OFFLOADS, QUANTIZATIONS
from capture.recording.arguments import SCHEDULE, add_profiler_arguments

WARM = {
    "batch": "Images per warm-up call (default: as in measured calls).",
    "height": "Image height in warm-up calls, pixels (default: likewise).",
    "width": "Image width in warm-up calls, pixels (default: likewise).",
    "tokens": "Prompt tokens in warm-up calls (default: likewise).",
    "steps": "Denoising steps in warm-up calls (default: likewise).",
}
DTYPES = ("float32", "float16", "bfloat16")


def add_pipeline(command: ArgumentParser) -> None:
    """Add the options for the pipeline, its inputs, its tuning and the profiler."""
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--model", metavar="PATH_OR_ID", help="Model directory, or id on the Hugging Face hub."
    )
    which.add_argument(
        "--tiny",
        action="store_true",
        help="Use a small model with random weights; downloads nothing.",
    )
    command.add_argument(
        "--out", type=Path, metavar="DIR", help="Run directory; must be empty or new."
    )
    add_compile(command)
    count = at_least(1)
    for name, meaning in WARM.items():
        command.add_argument(f"--warmup-{name}", type=count, metavar="N", help=meaning)
    command.add_argument(
        "--steps", type=count, help="Denoising steps (default: 3; 28 with --no-profile)."
    )
    command.add_argument(
        "--batch", type=count, help="Images per call (default: the number of prompts)."
    )
    command.add_argument(
        "--height",
        type=count,
        help="Image height, pixels (default: the pipeline's; 64 with --tiny).",
    )
    command.add_argument(
        "--width", type=count, help="Image width, pixels (default: the pipeline's; 64 with --tiny)."
    )
    command.add_argument("--dtype", choices=DTYPES, help="Data type of the weights.")
    _add_tuning(command)
    texts = command.add_mutually_exclusive_group()
    texts.add_argument("--prompt", default=Inputs.prompt, metavar="TEXT", help="The prompt.")
    texts.add_argument(
        "--prompts", type=Path, metavar="FILE", help="File with one prompt per line."
    )
    command.add_argument("--negative-prompt", metavar="TEXT", help="The negative prompt.")
    command.add_argument("--guidance", type=float, metavar="X", help="Guidance scale.")
    command.add_argument(
        "--tokens", type=count, metavar="N", help="Tokens per prompt, for T5 encoders."
    )
    command.add_argument("--frames", type=count, metavar="N", help="Frames per video.")
    command.add_argument(
        "--image",
        metavar="PATH|random",
        help="Start from this image, scaled to the size of the call.",
    )
    command.add_argument(
        "--strength",
        type=_share,
        metavar="X",
        help="Share of the image to replace, above 0 and up to 1.",
    )
    command.add_argument(
        "--save", action="store_true", help="Save the images in the run directory."
    )
    command.add_argument(
        "--seed", type=at_least(0), default=0, help="Seed of latents and random weights."
    )
    add_profiler(command)


def _add_tuning(command: ArgumentParser) -> None:
    """Add the options of `Tuning`, which make the pipeline faster or smaller."""
    command.add_argument(
        "--offload",
        nargs="?",
        const=MODEL,
        choices=OFFLOADS,
        help="Keep idle parts in host memory: models, layers (sequential), or layers that are "
        "copied ahead of use (group); default: model.",
    )
    command.add_argument(
        "--quantize", choices=QUANTIZATIONS, help="Quantize the denoiser's weights (torchao)."
    )
    command.add_argument(
        "--attention",
        metavar="NAME",
        help="Attention backend of the denoiser: a name from diffusers.",
    )
    command.add_argument("--cache", choices=CACHES, help="Reuse results between denoising steps.")


def add_compile(command: ArgumentParser) -> None:
    """Add the options for torch.compile and the warm-up, and hidden ones for a sweep."""
    command.add_argument(
        "--compile", action="store_true", help="Compile the denoiser with torch.compile."
    )
    command.add_argument("--compile-mode", choices=MODES, help="Mode of torch.compile.")
    command.add_argument("--fullgraph", action="store_true", help="Fail at a graph break.")
    command.add_argument(
        "--dynamic",
        action=argparse.BooleanOptionalAction,
        help="Compile once for all sizes, or for each size (default: torch decides).",
    )
    command.add_argument(
        "--regional", action="store_true", help="Compile only the repeated blocks of the denoiser."
    )
    command.add_argument(
        "--compile-parts", nargs="+", choices=PARTS, help="Parts to compile (default: denoiser)."
    )
    command.add_argument(
        "--compile-cache",
        type=Path,
        metavar="DIR",
        help="Keep the compiler's cache in DIR for later runs (default: a fresh cache).",
    )
    # The command `compare` passes this.
    command.add_argument("--eager", action="store_true", help=argparse.SUPPRESS)
    command.add_argument(
        "--warmup", type=at_least(0), default=1, help="Warm-up calls (default: 1)."
    )
    # The command `sweep` passes this.
    command.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    command.add_argument("--measured-calls", type=int, help=argparse.SUPPRESS)


def add_profiler(command: ArgumentParser) -> None:
    """Add the profiler's flags. Without flags of the schedule, all steps are recorded."""
    add_profiler_arguments(command)
    command.set_defaults(profile=True, **dict.fromkeys(SCHEDULE))
    command.epilog = (
        "Any of --skip-first, --profile-wait, --profile-warmup, --profile-active and "
        "--profile-repeat sets a schedule over the steps; without them, all steps are recorded. "
        "Python frames are off by default because they can take gigabytes of memory."
    )


def at_least(least: int) -> Callable[[str], int]:
    """Return the type of an option whose value is an integer of `least` or more."""

    def number(text: str) -> int:
        if not least <= int(text) < 2**63:
            raise argparse.ArgumentTypeError(f"{text}: must be an integer of {least} or more")
        return int(text)

    number.__name__ = "number"
    return number


def _share(text: str) -> float:
    if not 0 < float(text) <= 1:
        raise argparse.ArgumentTypeError(f"{text}: must be above 0 and at most 1")
    return float(text)


_share.__name__ = "number"

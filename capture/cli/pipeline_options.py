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
    "batch": "Images in those calls.",
    "height": "Height in those calls, pixels.",
    "width": "Width in those calls, pixels.",
    "tokens": "Tokens of a prompt in those calls.",
    "steps": "Denoising steps in those calls.",
}
DTYPES = ("float32", "float16", "bfloat16")


def add_pipeline(command: ArgumentParser) -> None:
    """Adds the options for the pipeline, its inputs, its tuning and the profiler."""
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--model", metavar="PATH_OR_ID", help="Directory or id on the hub.")
    which.add_argument("--tiny", action="store_true", help="Small random model, no download.")
    command.add_argument(
        "--out", type=Path, metavar="DIR", help="Run directory; must hold no files."
    )
    add_compile(command)
    count = at_least(1)
    for name, meaning in WARM.items():
        command.add_argument(f"--warmup-{name}", type=count, metavar="N", help=meaning)
    command.add_argument("--steps", type=count, help="Denoising steps (3, unprofiled 28).")
    command.add_argument("--batch", type=count, help="Images in a call (1, or all prompts).")
    command.add_argument("--height", type=count, help="Of the image, pixels (tiny: 64).")
    command.add_argument("--width", type=count, help="Of the image, pixels (tiny: 64).")
    command.add_argument("--dtype", choices=DTYPES, help="Of the weights.")
    _add_tuning(command)
    texts = command.add_mutually_exclusive_group()
    texts.add_argument("--prompt", default=Inputs.prompt, metavar="TEXT")
    texts.add_argument("--prompts", type=Path, metavar="FILE", help="A prompt in each line.")
    command.add_argument("--negative-prompt", metavar="TEXT", help="What the image must not show.")
    command.add_argument("--guidance", type=float, metavar="X", help="Scale of the guidance.")
    command.add_argument("--tokens", type=count, metavar="N", help="Tokens of a prompt (T5).")
    command.add_argument("--frames", type=count, metavar="N", help="Frames of a video.")
    command.add_argument(
        "--image", metavar="PATH|random", help="Begin with this image, scaled to the call's size."
    )
    command.add_argument(
        "--strength", type=_share, metavar="X", help="How much of the image is replaced, to 1."
    )
    command.add_argument(
        "--save", action="store_true", help="Save the images in the run directory."
    )
    command.add_argument("--seed", type=at_least(0), default=0, help="Of weights and latents.")
    add_profiler(command)


def _add_tuning(command: ArgumentParser) -> None:
    """What makes the pipeline faster or smaller, besides compiling."""
    command.add_argument(
        "--offload",
        nargs="?",
        const=MODEL,
        choices=OFFLOADS,
        help="Parts wait in the host's memory: whole models, layers, or layers copied ahead.",
    )
    command.add_argument(
        "--quantize", choices=QUANTIZATIONS, help="Quantize the denoiser's weights (torchao)."
    )
    command.add_argument(
        "--attention", metavar="NAME", help="The denoiser's attention backend, as diffusers has it."
    )
    command.add_argument("--cache", choices=CACHES, help="Reuse results between denoising steps.")


def add_compile(command: ArgumentParser) -> None:
    """Adds the options for torch.compile and the warm-up, and the hidden ones for a sweep."""
    command.add_argument("--compile", action="store_true", help="torch.compile the denoiser.")
    command.add_argument("--compile-mode", choices=MODES, help="As torch.compile has it.")
    command.add_argument("--fullgraph", action="store_true", help="Refuse graph breaks.")
    command.add_argument(
        "--dynamic",
        action=argparse.BooleanOptionalAction,
        help="Compile for all sizes at once, or for each; without it, torch decides.",
    )
    command.add_argument(
        "--regional", action="store_true", help="Compile the denoiser's repeated blocks alone."
    )
    command.add_argument(
        "--compile-parts", nargs="+", choices=PARTS, help="What to compile (denoiser)."
    )
    command.add_argument(
        "--compile-cache",
        type=Path,
        metavar="DIR",
        help="The compiler's cache: a later run with the same DIR starts warm (a fresh one).",
    )
    command.add_argument("--eager", action="store_true", help=argparse.SUPPRESS)  # for compare
    command.add_argument("--warmup", type=at_least(0), default=1, help="Calls before measuring.")
    command.add_argument("--measure", type=Path, help=argparse.SUPPRESS)  # for sweep
    command.add_argument("--measured-calls", type=int, help=argparse.SUPPRESS)


def add_profiler(command: ArgumentParser) -> None:
    """The profiler's flags; without any of the schedule's, all steps are recorded."""
    add_profiler_arguments(command)
    command.set_defaults(profile=True, **dict.fromkeys(SCHEDULE))
    command.epilog = (
        "Naming one of skip-first, wait, warmup, active or repeat sets a schedule over the steps. "
        "Python frames are recorded where they are asked for: they can take gigabytes of memory."
    )


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that is a whole number, from `least` on."""

    def number(text: str) -> int:
        if not least <= int(text) < 2**63:
            raise argparse.ArgumentTypeError(f"{text} is not a number from {least} on")
        return int(text)

    number.__name__ = "number"
    return number


def _share(text: str) -> float:
    if not 0 < float(text) <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0 and up to 1")
    return float(text)


_share.__name__ = "number"

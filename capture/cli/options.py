"""What the command line understands."""

import argparse
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from capture.pipelines.calls import Inputs
from capture.pipelines.compiling import PARTS
from capture.pipelines.tuning import CACHES, MODEL, OFFLOADS, QUANTIZATIONS
from capture.recording.arguments import SCHEDULE, add_profiler_arguments
from capture.sweep.variants import TRIES

COMPILE_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
WARM = {
    "batch": "Images in those calls.",
    "height": "Height in those calls, pixels.",
    "width": "Width in those calls, pixels.",
    "tokens": "Tokens of a prompt in those calls.",
    "steps": "Denoising steps in those calls.",
}
DTYPES = ("float32", "float16", "bfloat16")
PIPELINES = {
    "flux": "Profile a FLUX pipeline.",
    "sd3": "Profile a Stable Diffusion 3 pipeline.",
    "sdxl": "Profile a Stable Diffusion XL pipeline.",
    "wan": "Profile a Wan pipeline, text to video.",
    "ltx": "Profile an LTX-Video pipeline, text to video.",
    "diffusers": "Profile any pipeline of diffusers that needs a prompt at most.",
}
COMPARE = "Profile a pipeline twice, eager and compiled, with the same inputs."
SWEEP = (
    "Time, check and profile variants of a pipeline or a function, each in processes of its own, "
    "and print them as a table."
)
SCRIPT = """Profile any program: capture run [options] -- script.py arguments...

Recording begins with the first call of a torch.nn.Module, or with the first compilation, so imports
and loading are not in it. A step is a step of an optimizer, a denoising step of a diffusers
pipeline, or a call of the module that is called again and again. Recording ends after ten of these
without a compilation, unless a schedule or --from-start asks for more. A session of torch's
profiler that the program starts itself becomes the run's trace."""


def parser() -> ArgumentParser:
    """The parser of all commands; wrong usage exits with 2."""
    made = ArgumentParser(
        "capture", description="Record profiles of models into run directories, for `ingest add`."
    )
    commands = made.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for kind, meaning in PIPELINES.items():
        _add_pipeline(commands.add_parser(kind, help=meaning, description=meaning))
    script = commands.add_parser(
        "run",
        help="Profile any script, unmodified.",
        description=SCRIPT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    script.add_argument("--out", type=Path, metavar="DIR", help="The same as --profile-dir.")
    script.add_argument(
        "--from-start", action="store_true", help="Record from the import of torch to the end."
    )
    script.add_argument(
        "--ingest",
        nargs="?",
        const="",
        metavar="STORE",
        help="Add the run to a store at once: STORE, or the default one.",
    )
    script.add_argument(
        "--open", action="store_true", help="Like --ingest, then open the dashboard on that store."
    )
    script.add_argument("-m", nargs=argparse.REMAINDER, dest="module", help=argparse.SUPPRESS)
    script.add_argument("program", nargs=argparse.REMAINDER, help="The program, as you type it.")
    _add_profiler(script)
    _add_sweep(commands.add_parser("sweep", help=SWEEP, description=SWEEP, allow_abbrev=False))
    _add_function(commands.add_parser("function"))
    both = commands.add_parser("compare", help=COMPARE, description=COMPARE)
    kinds = both.add_subparsers(dest="kind", metavar="PIPELINE", required=True)
    for kind, meaning in PIPELINES.items():
        _add_pipeline(kinds.add_parser(kind, help=meaning, description=COMPARE))
    return made


def _add_sweep(command: ArgumentParser) -> None:
    """Options of a sweep; all others are the pipeline's."""
    command.usage = "capture sweep (PIPELINE | --script FILE:function) [options of both]"
    command.add_argument("pipeline", nargs="?", choices=PIPELINES, help="What to sweep over.")
    command.add_argument(
        "--script", metavar="FILE:FUNCTION", help="A function of your own instead of a pipeline."
    )
    command.add_argument(
        "--try",
        dest="tries",
        type=_listed,
        default=("eager", "default"),
        metavar="A,B+C",
        help=f"Ways to run it: {', '.join(TRIES)}; + joins them.",
    )
    command.add_argument(
        "--sizes", type=_listed, metavar="N,HxW", help="Sizes of the image, pixels."
    )
    command.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="OPTION=A,B",
        help="Values of an option of the pipeline, or of a parameter of the function; `none` is "
        "without it; repeatable.",
    )
    command.add_argument(
        "--repeat", type=_at_least(1), default=5, help="Processes that time each variant (5)."
    )
    command.add_argument(
        "--calls", type=_at_least(1), default=3, help="Timed calls in each process (3)."
    )
    command.add_argument(
        "--time-limit",
        type=float,
        default=1800.0,
        metavar="SECONDS",
        help="After which a process is ended (1800).",
    )
    command.add_argument("--out", type=Path, metavar="DIR", help="Directory of the sweep.")
    command.add_argument(
        "--store", type=Path, metavar="DIR", help="Store for its runs; else one in its directory."
    )
    command.add_argument("--tag", metavar="TAG", help="Tag of its runs: sweep=TAG.")


def _add_function(command: ArgumentParser) -> None:
    """A function of the user's, as a sweep runs it."""
    command.add_argument("function", metavar="FILE:FUNCTION")
    command.add_argument("--argument", action="append", default=[], metavar="NAME=VALUE")
    command.add_argument("--out", type=Path, metavar="DIR")
    command.add_argument("--seed", type=_at_least(0), default=0)
    _add_compile(command)
    _add_profiler(command)


def _add_pipeline(command: ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--model", metavar="PATH_OR_ID", help="Directory or id on the hub.")
    which.add_argument("--tiny", action="store_true", help="Small random model, no download.")
    command.add_argument(
        "--out", type=Path, metavar="DIR", help="Run directory; must hold no files."
    )
    _add_compile(command)
    count = _at_least(1)
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
    command.add_argument("--negative-prompt", metavar="TEXT", help="What is not wanted.")
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
    command.add_argument("--seed", type=_at_least(0), default=0, help="Of weights and latents.")
    _add_profiler(command)


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


def _add_compile(command: ArgumentParser) -> None:
    """What is compiled, how the calls are warmed up, and what a sweep asks of its processes."""
    command.add_argument("--compile", action="store_true", help="torch.compile the denoiser.")
    command.add_argument("--compile-mode", choices=COMPILE_MODES, help="As torch.compile has it.")
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
    command.add_argument("--warmup", type=_at_least(0), default=1, help="Calls before measuring.")
    command.add_argument("--measure", type=Path, help=argparse.SUPPRESS)  # for sweep
    command.add_argument("--measured-calls", type=int, help=argparse.SUPPRESS)


def _add_profiler(command: ArgumentParser) -> None:
    """The profiler's flags; without any of the schedule's, all steps are recorded."""
    add_profiler_arguments(command)
    command.set_defaults(profile=True, **dict.fromkeys(SCHEDULE))
    command.epilog = (
        "Naming one of skip-first, wait, warmup, active or repeat sets a schedule over the steps. "
        "Python frames are recorded where they are asked for: they can take gigabytes of memory."
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def _at_least(least: int) -> Callable[[str], int]:
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

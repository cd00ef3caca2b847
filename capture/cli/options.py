"""What the command line understands."""

import argparse
from argparse import ArgumentParser
from pathlib import Path

from capture.cli.pipeline_options import add_compile, add_pipeline, add_profiler, at_least
from capture.sweep.variants import TRIES

PIPELINES = {
    "flux": "Profile a FLUX pipeline.",
    "sd3": "Profile a Stable Diffusion 3 pipeline.",
    "sdxl": "Profile a Stable Diffusion XL pipeline.",
    "wan": "Profile a Wan pipeline, text to video.",
    "ltx": "Profile an LTX-Video pipeline, text to video.",
    "diffusers": "Profile any pipeline of diffusers.",
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
        add_pipeline(commands.add_parser(kind, help=meaning, description=meaning))
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
    add_profiler(script)
    _add_sweep(commands.add_parser("sweep", help=SWEEP, description=SWEEP, allow_abbrev=False))
    _add_function(commands.add_parser("function"))
    both = commands.add_parser("compare", help=COMPARE, description=COMPARE)
    kinds = both.add_subparsers(dest="kind", metavar="PIPELINE", required=True)
    for kind, meaning in PIPELINES.items():
        add_pipeline(kinds.add_parser(kind, help=meaning, description=COMPARE))
    return made


def _add_sweep(command: ArgumentParser) -> None:
    """Options of a sweep; all others, and which pipeline it is, are left to `capture.sweep`."""
    command.usage = "capture sweep (PIPELINE | --script FILE:function) [options of both]"
    command.epilog = (
        f"PIPELINE is one of {', '.join(PIPELINES)}. Its own options hold for every variant."
    )
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
        "--repeat", type=at_least(1), default=5, help="Processes that time each variant (5)."
    )
    command.add_argument(
        "--calls", type=at_least(1), default=3, help="Timed calls in each process (3)."
    )
    command.add_argument(
        "--time-limit",
        type=at_least(1),
        default=1800,
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
    command.add_argument("--seed", type=at_least(0), default=0)
    add_compile(command)
    add_profiler(command)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))

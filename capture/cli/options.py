"""The commands and options of the command line `capture`."""

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
    "diffusers": "Profile any diffusers pipeline.",
}
COMPARE = "Profile a pipeline twice with the same inputs: eager and compiled."
SWEEP = (
    "Time, check and profile variants of a pipeline or a function, and print a table of them. "
    "Each variant runs in separate processes."
)
CALIBRATE = (
    "Measure what the devices of this machine reach, in about a minute: matrix products, a copy "
    "and launches. Runs in this directory carry the results."
)
SCRIPT = """Profile any program: capture run [options] -- script.py arguments...

Recording begins with the first call of a torch.nn.Module or the first compilation, so the trace
does not contain imports and loading. A step is an optimizer step, a denoising step of a diffusers
pipeline, or a call of the first module that is called twice. Recording ends after ten steps without
a compilation, unless a schedule or --from-start asks for more. If the program starts torch's
profiler itself, the program's session becomes the trace of the run."""


def parser() -> ArgumentParser:
    """Return the parser of all commands. Wrong usage exits with 2."""
    made = ArgumentParser(
        "capture", description="Record profiles of models in run directories for `ingest add`."
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
    script.add_argument(
        "--out", type=Path, metavar="DIR", help="Run directory (same as --profile-dir)."
    )
    script.add_argument(
        "--from-start",
        action="store_true",
        help="Record from the import of torch until the program ends.",
    )
    script.add_argument(
        "--ingest",
        nargs="?",
        const="",
        metavar="STORE",
        help="Add the run to STORE (default: the default store).",
    )
    script.add_argument(
        "--open", action="store_true", help="Add the run to a store and open it in the dashboard."
    )
    script.add_argument("-m", nargs=argparse.REMAINDER, dest="module", help=argparse.SUPPRESS)
    script.add_argument("program", nargs=argparse.REMAINDER, help="The program and its arguments.")
    add_profiler(script)
    _add_sweep(commands.add_parser("sweep", help=SWEEP, description=SWEEP, allow_abbrev=False))
    _add_function(commands.add_parser("function"))
    _add_calibrate(commands.add_parser("calibrate", help=CALIBRATE, description=CALIBRATE))
    both = commands.add_parser("compare", help=COMPARE, description=COMPARE)
    kinds = both.add_subparsers(dest="kind", metavar="PIPELINE", required=True)
    for kind, meaning in PIPELINES.items():
        add_pipeline(kinds.add_parser(kind, help=meaning, description=COMPARE))
    return made


def _add_sweep(command: ArgumentParser) -> None:
    """Add the options of a sweep. `capture.sweep` reads the pipeline and its options."""
    command.usage = (
        "capture sweep (PIPELINE | --script FILE:FUNCTION) [sweep options] [pipeline options]"
    )
    command.epilog = (
        f"PIPELINE is one of {', '.join(PIPELINES)}. The options of its command (see `capture "
        "PIPELINE --help`) apply to every variant."
    )
    command.add_argument(
        "--script",
        metavar="FILE:FUNCTION",
        help="Sweep over a Python function instead of a pipeline.",
    )
    command.add_argument(
        "--try",
        dest="tries",
        type=_listed,
        default=("eager", "default"),
        metavar="A,B+C",
        help=f"Ways to run it: {', '.join(TRIES)}; join several with + (default: eager,default).",
    )
    command.add_argument(
        "--sizes",
        type=_listed,
        metavar="N,HxW",
        help="Image sizes in pixels, as N or HEIGHTxWIDTH.",
    )
    command.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="OPTION=A,B",
        help="Values to try for an option of the pipeline or a parameter of the function; `none` "
        "omits it; repeatable.",
    )
    command.add_argument(
        "--repeat",
        type=at_least(1),
        default=5,
        help="Processes that time each variant (default: 5).",
    )
    command.add_argument(
        "--calls", type=at_least(1), default=3, help="Timed calls in each process (default: 3)."
    )
    command.add_argument(
        "--time-limit",
        type=at_least(1),
        default=1800,
        metavar="SECONDS",
        help="Time limit of each process (default: 1800).",
    )
    command.add_argument(
        "--out", type=Path, metavar="DIR", help="Directory of the sweep (default: sweep-NAME)."
    )
    command.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        help="Store for the runs (default: a store in the directory of the sweep).",
    )
    command.add_argument("--tag", metavar="TAG", help="Tag the runs with sweep=TAG.")


def _add_calibrate(command: ArgumentParser) -> None:
    """Add the options of a calibration."""
    command.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="Directory for calibration.json (default: the directory for runs).",
    )
    command.add_argument(
        "--device",
        choices=("cuda", "cpu"),
        help="What to measure (default: one CUDA device of each model, else the CPU).",
    )


def _add_function(command: ArgumentParser) -> None:
    """Add the options of the internal command that runs a user's function for a sweep."""
    command.add_argument("function", metavar="FILE:FUNCTION")
    command.add_argument("--argument", action="append", default=[], metavar="NAME=VALUE")
    command.add_argument("--out", type=Path, metavar="DIR")
    command.add_argument("--seed", type=at_least(0), default=0)
    add_compile(command)
    add_profiler(command)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))

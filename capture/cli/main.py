"""The entry point of the command line `capture`."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from capture.calibration.command import calibrate
from capture.cli.options import parser
from capture.errors import CaptureError, say, warn_on_stderr
from capture.pipelines.command import compile_of, profile_pipeline
from capture.pipelines.compare import compare
from capture.recording import compilation
from capture.scripts.children import stop_recording_children
from capture.scripts.command import profile_script
from capture.sweep.command import sweep
from capture.sweep.function import profile_function


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Exit with 1 after a failure and with 2 for invalid arguments."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    warn_on_stderr()
    try:
        run(argv)
    except CaptureError as error:
        say(str(error))
        sys.exit(error.exit_code)


def run(argv: list[str]) -> None:
    """Run one command. Arguments after `--` belong to the profiled program."""
    stop_recording_children()
    if argv and argv[0].endswith(".py"):  # capture script.py
        argv = ["run", "--", *argv]
    end = argv.index("--") if "--" in argv else len(argv)
    args, others = parser().parse_known_args(argv[:end])
    if others and args.command != "sweep":
        parser().error(f"unrecognized arguments: {' '.join(others)}")
    if args.command == "run":
        module = ["-m", *args.module] if args.module is not None else []
        program = [*module, *args.program]  # a `--` after the program is one of its arguments
        profile_script(args, program + argv[end if program else end + 1 :])
        return
    try:
        if args.command == "compare":
            compare(args, argv[1:])
        elif args.command == "calibrate":
            calibrate(args)
        elif args.command == "sweep":
            sweep(args, others, parser().parse_args)
        elif args.command == "function":
            with _compile_log(args):
                profile_function(args, compile_of(args))
        else:
            with _compile_log(args):
                profile_pipeline(args)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)


def _compile_log(args: Namespace) -> AbstractContextManager[object]:
    """Return a context that keeps the compile log and sets the compiler cache.

    The cache is the directory of --compile-cache, or a fresh one. A measuring process of a sweep
    keeps no log, and uses the cache that the sweep has set.
    """
    if not args.compile or args.measure:
        return nullcontext()
    if args.compile_cache:
        try:
            args.compile_cache.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CaptureError(
                f"{args.compile_cache}: cannot create this directory: {error.strerror}"
            ) from error
        os.environ[compilation.CACHE_DIRECTORY] = str(args.compile_cache.resolve())
    return compilation.kept_log(fresh_cache=True)

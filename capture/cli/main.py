"""The command line `capture`: options in, the path of a run directory out."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from capture.cli.options import parser
from capture.errors import CaptureError, say, warn_on_stderr
from capture.pipelines.command import compile_of, profile_pipeline
from capture.pipelines.compare import compare
from capture.recording import compilation
from capture.scripts.children import record_nothing
from capture.scripts.command import profile_script
from capture.sweep.command import sweep
from capture.sweep.function import profile_function


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 1 after a failure, 2 after a wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    warn_on_stderr()
    try:
        run(given)
    except CaptureError as error:
        say(str(error))
        sys.exit(1)


def run(given: list[str]) -> None:
    """One command. What stands behind a `--` is a program's, not ours."""
    record_nothing()
    if given and given[0].endswith(".py"):  # capture script.py
        given = ["run", "--", *given]
    end = given.index("--") if "--" in given else len(given)
    asked, others = parser().parse_known_args(given[:end])
    if others and asked.command != "sweep":
        parser().error(f"unrecognized arguments: {' '.join(others)}")
    if asked.command == "run":
        module = ["-m", *asked.module] if asked.module is not None else []
        named = [*module, *asked.program]  # a -- behind a program is the program's
        profile_script(asked, named + given[end if named else end + 1 :])
        return
    try:
        if asked.command == "compare":
            compare(asked, given[1:])
        elif asked.command == "sweep":
            sweep(asked, others, parser().parse_args)
        elif asked.command == "function":
            with _compile_log(asked):
                profile_function(asked, compile_of(asked))
        else:
            with _compile_log(asked):
                profile_pipeline(asked)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)


def _compile_log(asked: Namespace) -> AbstractContextManager[object]:
    """Keeps the compile log of a profile, with the cache that is asked for, else a fresh one.

    A process of a sweep has the cache that it is given.
    """
    if not asked.compile or asked.measure:
        return nullcontext()
    if asked.compile_cache:
        try:
            asked.compile_cache.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CaptureError(
                f"{asked.compile_cache}: cannot be a directory: {error.strerror}"
            ) from error
        os.environ[compilation.CACHE_DIRECTORY] = str(asked.compile_cache.resolve())
    return compilation.kept_log(fresh_cache=True)

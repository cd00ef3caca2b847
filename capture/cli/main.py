"""The command line `capture`: options in, the path of a run directory out."""

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from capture.cli.options import parser
from capture.errors import CaptureError, say, warn_on_stderr
from capture.pipelines.command import profile_pipeline
from capture.pipelines.compare import compare
from capture.recording import compilation
from capture.scripts.children import record_nothing
from capture.scripts.command import profile_script


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
    asked = parser().parse_args(given[:end])
    if asked.command == "run":
        module = ["-m", *asked.module] if asked.module is not None else []
        named = [*module, *asked.program]  # a -- behind a program is the program's
        profile_script(asked, named + given[end if named else end + 1 :])
        return
    try:
        if asked.command == "compare":
            compare(asked, given[1:])
        else:
            with _compile_log(asked.compile_cache) if asked.compile else nullcontext():
                profile_pipeline(asked)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)


def _compile_log(cache: Path | None) -> AbstractContextManager[Path]:
    """Keeps the compile log, with the compiler's cache in a directory, else a fresh one."""
    if cache:
        try:
            cache.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CaptureError(f"{cache}: cannot be a directory: {error.strerror}") from error
        os.environ[compilation.CACHE_DIRECTORY] = str(cache.resolve())
    return compilation.kept_log(fresh_cache=True)

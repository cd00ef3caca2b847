"""The command line `capture`: options in, the path of a run directory out."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TextIO

from capture.cli.options import parser
from capture.errors import CaptureError, CaptureWarning
from capture.pipelines.command import profile_pipeline
from capture.pipelines.compare import compare
from capture.recording import compilation
from capture.scripts.command import profile_script


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 1 after a failure, 2 after a wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings_in_a_line():
            run(given)
    except CaptureError as error:
        print(f"capture: {error}", file=sys.stderr)
        sys.exit(1)


def run(given: list[str]) -> None:
    """One command. What stands behind a `--` is a program's, not ours."""
    if given and given[0].endswith(".py"):  # capture script.py
        given = ["run", "--", *given]
    end = given.index("--") if "--" in given else len(given)
    asked = parser().parse_args(given[:end])
    if asked.command == "run":
        module = ["-m", *asked.module] if asked.module is not None else []
        with compilation.kept_log():
            profile_script(asked, [*module, *asked.program, *given[end + 1 :]])
        return
    try:
        if asked.command == "compare":
            compare(asked, given[1:])
        else:
            with compilation.kept_log(fresh_cache=True) if asked.compile else nullcontext():
                profile_pipeline(asked)
    except KeyboardInterrupt:
        print("capture: stopped", file=sys.stderr)
        sys.exit(130)


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """In the body, our own warnings are a line on stderr, without the place in the program."""
    show = warnings.showwarning

    def show_briefly(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, CaptureWarning):
            print(f"capture: {message}", file=sys.stderr)
        else:
            show(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.showwarning = show_briefly
        warnings.simplefilter("always", CaptureWarning)
        yield

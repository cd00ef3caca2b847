"""Errors and warnings for the user. The command line prints an error and exits with its code."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class CaptureError(Exception):
    """An error that the user can fix. Its message is one line that says how."""

    exit_code = 1


class UsageError(CaptureError):
    """An invalid option, or options that cannot be combined."""

    exit_code = 2


class CaptureWarning(UserWarning):
    """A warning that a requested feature is not available here. Everything else is captured."""


def first_line(error: BaseException) -> str:
    """Return the first line of the error's message, or its class if the message is empty."""
    return (
        next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        or type(error).__name__
    )


_on_stderr = False


def warn_on_stderr() -> None:
    """Write warnings to stderr, one line each, whatever the program's warning filters are."""
    global _on_stderr
    _on_stderr = True


def say(message: str) -> None:
    """Print a line to the original stderr of the process, if it is open."""
    with suppress(OSError, ValueError):
        if sys.__stderr__:
            print(f"capture: {message}", file=sys.__stderr__, flush=True)


def warn(message: str) -> None:
    """Issue a CaptureWarning that names the user's line. On the command line, print to stderr."""
    if _on_stderr:
        say(message)
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("capture."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, CaptureWarning, stacklevel=level)


@contextmanager
def capture_extra() -> Iterator[None]:
    """Turn an ImportError of the body into a CaptureError that says what to install."""
    try:
        yield
    except ImportError as error:
        missing = error.name or str(error).splitlines()[0]
        raise CaptureError(
            f'cannot import {missing}; install it with: pip install "tracehouse[capture]"'
        ) from error

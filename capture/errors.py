"""What can go wrong in words for the user: the command line prints one line and exits with 1."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class CaptureError(Exception):
    """A failure the user can do something about; its message is one line that says what."""


class CaptureWarning(UserWarning):
    """Something that was asked for and cannot be had here; the rest is captured."""


def first_line(error: BaseException) -> str:
    """What the error says, in one line; its class where it says nothing."""
    return (
        next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        or type(error).__name__
    )


_on_stderr = False


def warn_on_stderr() -> None:
    """Has warnings go to stderr, each in a line: a program's filters are about its own."""
    global _on_stderr
    _on_stderr = True


def say(message: str) -> None:
    """Prints a line to the stderr that the process began with, if it is open."""
    with suppress(OSError, ValueError):
        if sys.__stderr__:
            print(f"capture: {message}", file=sys.__stderr__, flush=True)


def warn(message: str) -> None:
    """Warns, at the line outside this package that led here; on the command line, on stderr."""
    if _on_stderr:
        say(message)
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("capture."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, CaptureWarning, stacklevel=level)


@contextmanager
def capture_extra() -> Iterator[None]:
    """Turn a failed import of the body, which imports torch and its like, into a CaptureError."""
    try:
        yield
    except ImportError as error:
        wanted = error.name or str(error).splitlines()[0]
        raise CaptureError(
            f'cannot import {wanted}; install it with: pip install "tracehouse[capture]"'
        ) from error

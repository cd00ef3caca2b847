"""What can go wrong in words for the user: the command line prints one line and exits with 1."""

from collections.abc import Iterator
from contextlib import contextmanager


class CaptureError(Exception):
    """A failure the user can do something about; its message is one line that says what."""


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

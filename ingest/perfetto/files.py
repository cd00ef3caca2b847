"""Trace files that Perfetto shows as they are."""

from collections.abc import Iterator
from pathlib import Path

from ingest.errors import ProfileError
from ingest.formats import FORMATS, recognise

PIECE_BYTES = 1 << 20


def check_trace(file: Path) -> None:
    """Raise ProfileError if a file is not a trace. Perfetto's message would be unclear."""
    try:
        found, fault = recognise(file, FORMATS)
    except OSError as error:
        raise ProfileError(f"{file}: {error.strerror}") from error
    if found is None or not found.is_chrome_trace:
        raise ProfileError(f"{file}: {fault or 'is not a trace'}")


def pieces(file: Path) -> Iterator[bytes]:
    """Return a file's bytes as an iterator of pieces. Raise ProfileError if it cannot be opened."""
    try:
        stream = file.open("rb")
    except OSError as error:
        raise ProfileError(f"{file}: {error.strerror}") from error

    def read() -> Iterator[bytes]:
        with stream:
            while piece := stream.read(PIECE_BYTES):
                yield piece

    return read()

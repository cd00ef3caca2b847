"""Atomic writing of files."""

import gzip
import os
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

from ingest.errors import OutputError
from ingest.temporary import temporary_file

FASTEST = 1  # gzip's level; higher levels take several times as long and save a few percent


def write_atomically(file: Path, parts: Iterable[bytes]) -> None:
    """Write a file from parts, atomically. Compress it if its name ends in `.gz`.

    Raise OutputError if the file cannot be written. An existing file is then unchanged.
    """
    try:
        target = file.expanduser().resolve()  # replace a link's target, not the link
    except RuntimeError as error:  # an unknown user in ~user, or circular links
        raise OutputError(f"{file}: cannot be written: {error}") from error
    if target.exists() and not target.is_file():
        kind = "is a directory" if target.is_dir() else "is not a regular file"
        raise OutputError(f"{file}: {kind}")
    is_compressed = target.suffix.lower() == ".gz"
    try:
        with temporary_file(target.parent) as (temporary, stream):
            with _compressed(stream) if is_compressed else nullcontext(stream) as written:
                for part in parts:
                    written.write(part)
            stream.flush()
            os.fsync(stream.fileno())  # network file systems may report a full disk only now
            os.replace(temporary, target)
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror or error}") from error


def _compressed(stream: BinaryIO) -> gzip.GzipFile:
    return gzip.GzipFile("", "wb", FASTEST, stream)

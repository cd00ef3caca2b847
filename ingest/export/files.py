"""Atomic writing of files."""

import gzip
import os
import uuid
from collections.abc import Iterable
from io import BufferedWriter
from pathlib import Path

from ingest.errors import OutputError

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
    temporary = target.with_name(f".tracehouse-{uuid.uuid4().hex[:12]}")
    try:
        try:
            with _opened(temporary, target.suffix.lower() == ".gz") as stream:
                for part in parts:
                    stream.write(part)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror or error}") from error


def _opened(file: Path, is_compressed: bool) -> gzip.GzipFile | BufferedWriter:
    return gzip.open(file, "wb", compresslevel=FASTEST) if is_compressed else file.open("wb")

"""Files written whole or not at all."""

import gzip
import os
import uuid
from collections.abc import Iterable
from io import BufferedWriter
from pathlib import Path

from ingest.errors import OutputError

QUICK = 1  # of gzip's levels; others take several times as long for a few percent


def write_whole(file: Path, parts: Iterable[bytes]) -> None:
    """Writes a file part by part, compressed if its name ends in `.gz`, and replaces it at once.

    Raises OutputError where that is not possible: then the file is as it was.
    """
    try:
        target = file.expanduser().resolve()  # a link stays a link
    except RuntimeError as error:  # no such user, or links in a circle
        raise OutputError(f"{file}: cannot be written: {error}") from error
    if target.exists() and not target.is_file():
        kind = "a directory" if target.is_dir() else "no regular file"
        raise OutputError(f"{file}: is {kind}")
    part = target.with_name(f".tracehouse-{uuid.uuid4().hex[:12]}")
    try:
        try:
            with _opened(part, target.suffix.lower() == ".gz") as stream:
                for each in parts:
                    stream.write(each)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror or error}") from error


def _opened(part: Path, is_compressed: bool) -> gzip.GzipFile | BufferedWriter:
    return gzip.open(part, "wb", compresslevel=QUICK) if is_compressed else part.open("wb")

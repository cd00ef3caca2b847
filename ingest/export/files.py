"""Files written whole or not at all."""

import os
import uuid
from collections.abc import Iterable
from pathlib import Path

from ingest.errors import OutputError


def write_whole(file: Path, parts: Iterable[str]) -> None:
    """Writes a text, part by part, to a file, which is replaced at once where it exists.

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
            with part.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
                stream.writelines(parts)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror or error}") from error

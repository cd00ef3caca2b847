"""Which format a file is of, by its first bytes."""

import json
from collections.abc import Iterable
from pathlib import Path

from ingest.errors import ProfileError
from ingest.formats.io import BLANK_START, METADATA_LIMIT, blocks
from ingest.formats.registry import Format

HEAD_BYTES = 1 << 20


def recognise(path: Path, formats: Iterable[Format]) -> tuple[Format | None, str]:
    """The format of a file; else None, and what is wrong with the file if it is to be a trace.

    Nothing is wrong with it where it is a whole JSON document. Raises OSError for an unreadable
    file.
    """
    head = b""
    fault = ""
    with path.open("rb") as file:
        try:
            for block in blocks(file):
                head += block
                for format_ in formats:
                    if format_.recognise(head):
                        return format_, ""
                # Metadata may precede the events of a trace.
                is_object = head.lstrip(BLANK_START).startswith(b"{")
                limit = METADATA_LIMIT if is_object else HEAD_BYTES
                if len(head) >= limit:
                    fault = f"no traceEvents in its first {limit >> 20} MiB: not a profiler trace"
                    break
        except ProfileError as error:
            fault = str(error).removeprefix(f"{path}: ")
        except (EOFError, OSError) as error:
            fault = f"{error}, before any event"
    return None, fault or _fault(head.lstrip(BLANK_START))


def _fault(text: bytes) -> str:
    """Why a whole text is no JSON document; nothing where it is one."""
    if not text:
        return "empty file"
    if text.startswith(b"PK"):
        return (
            "a zip archive: of a memory snapshot, the pickle that `_dump_snapshot` writes is read"
        )
    if text[:1] not in b"{[":
        return "neither a JSON object nor an array: not a profiler trace"
    try:
        json.loads(text.decode("utf-8", "replace"))
    except RecursionError:
        pass
    except ValueError as error:
        return f"not valid JSON: {error}"
    return ""

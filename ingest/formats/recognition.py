"""Recognition of a file's format by its first bytes."""

import json
from collections.abc import Iterable
from pathlib import Path

from ingest.errors import ProfileError
from ingest.formats.format import Format
from ingest.formats.io import BLANK_START, METADATA_LIMIT, blocks

HEAD_BYTES = 1 << 20


def recognise(path: Path, formats: Iterable[Format]) -> tuple[Format | None, str]:
    """Return the format of a file, or None and the reason why the file is not a trace.

    The reason is empty if the file is a valid JSON document. Raise OSError if the file is
    unreadable.
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
    if _is_perfetto(head):
        fault = (
            "a Perfetto trace, which tracehouse does not read yet; export it as JSON, such as "
            'with `profiler.export_chrome_trace("trace.json")`'
        )
    return None, fault or _fault(head.lstrip(BLANK_START))


def _is_perfetto(head: bytes) -> bool:
    """Return whether a file begins with a packet of Perfetto's protobuf, and then another.

    A packet is field 1: the byte 10, the size in groups of 7 bits, and the content, which has bytes
    that no text has.
    """
    size, position = 0, 1
    while position < min(len(head), 6):
        size |= (head[position] & 0x7F) << 7 * (position - 1)
        position += 1
        if head[position - 1] < 0x80:
            break
    end = position + size
    is_binary = any(byte < 9 for byte in head[position:end])
    return head[:1] == b"\n" and is_binary and head[end : end + 1] in (b"\n", b"")


def _fault(text: bytes) -> str:
    """Return why a text is not a JSON document, or an empty string if it is one."""
    if not text:
        return "empty file"
    if text.startswith(b"PK"):
        return (
            "a zip archive, which is not supported; a memory snapshot must be the pickle that "
            "`torch.cuda.memory._dump_snapshot` writes"
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

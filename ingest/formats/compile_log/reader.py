"""Reading of torch's structured compile log (`TORCH_TRACE`), record by record.

A record is a line `V1121 06:52:54.063000 <pid> <file>:<line>] {json}`. Its payload, if any, follows
in lines that begin with a tab. A record `str` assigns a number to a text; stacks refer to their
files by these numbers.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.errors import ProfileError
from ingest.formats.compile_log.recognition import HEADER
from ingest.formats.io import blocks

LONGEST = 64 << 20  # bytes of a line, and of a payload
MAX_ATTEMPTS = 1_000_000
COMMON_FIELDS = {
    "has_payload", "rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt",
    "stack",
}  # fmt: skip


@dataclass
class Record:
    """A record of a compile log.

    `clock_us`: the time of day, in the log's time zone. `name`: the kind of record. `content`: the
    value under that name. `payload`: None unless the reader keeps the payloads of records of this
    kind. `reset`: how often Dynamo had been reset; then `compile_id` begins at 0/0 again.
    """

    ordinal: int
    clock_us: int
    name: str
    content: Any
    compile_id: str | None
    attempt: int
    payload: str | None = None
    reset: int = 0

    def json(self) -> dict[str, Any] | None:
        """Return the payload as an object, or None if it is not a JSON object."""
        try:
            found = json.loads(self.payload or "")
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


class CompileLog:
    """Reader of a compile log. The attributes are complete once all `records()` have been read.

    `count`: number of records. `skipped`: damaged lines before the first record. `dropped`: counts
    of what could not be read, by reason. `cut`: why the file ends early, or None.
    `wanted`: the names of records whose payloads are kept; only one payload is in memory at a time.
    """

    def __init__(
        self, path: Path, wanted: set[str], progress: Callable[[int], None] | None = None
    ) -> None:
        self.path = path
        self.bytes = 0
        self.count = 0
        self.skipped = 0
        self.rank: int | None = None
        self.pid: str | None = None
        self.dropped: Counter[str] = Counter()
        self.cut: str | None = None
        self._wanted = wanted
        self._progress = progress
        self._texts: dict[int, str] = {}

    def records(self) -> Iterator[Record]:
        """Yield the records in file order. Raise ProfileError if there are none."""
        record: Record | None = None
        payload: list[bytes] = []
        size = 0
        for line in self._lines():
            if line is None:
                self.dropped[f"line of more than {LONGEST >> 20} MiB"] += 1
                record = None
            elif line.startswith(b"\t"):
                size += len(line)
                if record and record.name in self._wanted and size <= LONGEST:
                    payload.append(line[1:])
            else:
                if record:
                    yield self._with_payload(record, payload, size)
                record, payload, size = self._record(line), [], 0
            if not self.count and (line is None or line.strip()):
                self.skipped += 1
        if record and self.cut:
            self.dropped["truncated record"] += 1
        elif record:
            yield self._with_payload(record, payload, size)
        if not self.count:
            raise ProfileError(f"{self.path}: {self.cut or 'no records: not a compile log'}")

    def stack(self, frames: Any) -> list[str]:
        """Format frames as Python prints them, in the same order. Skip invalid frames."""
        if not isinstance(frames, list):
            return []
        return [
            f'  File "{self._text(frame.get("filename"))}", line {frame.get("line")}, '
            f"in {frame.get('name')}" + (f"\n    {frame['loc']}" if frame.get("loc") else "")
            for frame in frames
            if isinstance(frame, dict)
        ]

    def _text(self, number: Any) -> str:
        return self._texts.get(number, "??") if isinstance(number, int) else str(number)

    def _lines(self) -> Iterator[bytes | None]:
        """Yield the lines, with None for a line that is too long. Set `cut` at an early end."""
        rest, is_long = b"", False
        with self.path.open("rb") as file:
            try:
                for block in blocks(file):
                    self.bytes += len(block)
                    first, *more = block.split(b"\n")
                    rest = b"" if is_long else rest + first
                    if more:
                        yield None if is_long else rest
                        yield from more[:-1]
                        rest, is_long = more[-1], False
                    if len(rest) > LONGEST:
                        rest, is_long = b"", True
                    if self._progress:
                        self._progress(file.tell())
            except (EOFError, OSError) as error:
                self.cut = str(error)
        if rest or is_long:
            self.cut = self.cut or "the last line has no newline"
            yield None if is_long else rest

    def _record(self, line: bytes) -> Record | None:
        if not line.strip():
            return None
        found = HEADER.fullmatch(line)
        try:
            fields = json.loads(found[6]) if found else None
        except (ValueError, RecursionError):
            fields = None
        if not found or not isinstance(fields, dict):
            self.dropped["line that is not a record"] += 1
            return None
        self.count += 1
        self.pid = self.pid or found[5].decode()
        name = next((key for key in fields if key not in COMMON_FIELDS), "stack")
        if name == "str":
            self._intern(fields["str"])
        if self.rank is None and type(fields.get("rank")) is int:
            self.rank = fields["rank"]
        content = fields.get(name)
        if name == "artifact" and isinstance(content, dict):
            name = str(content.get("name"))
        attempt = fields.get("attempt")
        if type(attempt) is not int or not 0 <= attempt < MAX_ATTEMPTS:
            attempt = 0
        hours, minutes, seconds, microseconds = map(int, found.groups()[:4])
        clock_us = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + microseconds
        return Record(self.count, clock_us, name, content, _compile_id(fields), attempt)

    def _intern(self, pair: Any) -> None:
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], int):
            self._texts[pair[1]] = str(pair[0])

    def _with_payload(self, record: Record, payload: list[bytes], size: int) -> Record:
        if size > LONGEST:
            self.dropped[f"payload of more than {LONGEST >> 20} MiB"] += 1
        elif payload:
            record.payload = b"\n".join(payload).decode("utf-8", "replace")
        return record


def _compile_id(fields: dict[str, Any]) -> str | None:
    """Return the id as torch prints it: `0/1`, or `!2/0/1` inside compiled autograd."""
    frame = [fields.get("frame_id"), fields.get("frame_compile_id")]
    parts = [str(part) for part in frame if isinstance(part, int)]
    if isinstance(outer := fields.get("compiled_autograd_id"), int):
        return "/".join([f"!{outer}", *parts])
    return "/".join(parts) if len(parts) == len(frame) else None

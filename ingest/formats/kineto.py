"""Kineto chrome traces (torch.profiler, libkineto): a stream of events, and the metadata around it.

The file is never held whole. Blocks of the decompressed JSON are cut between the objects of
`traceEvents` by vectorised byte comparison and handed on as Arrow string views into the block,
so no byte is copied; DuckDB parses them. A cut can be wrong only inside an object (an array of
objects in `args`), and then both pieces are invalid JSON, which `staging.py` joins again.
"""

import json
import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.files import blocks

HEAD_LIMIT_BYTES = 64 << 20
LONGEST_REPAIR = 512  # pieces that an event may have been cut into
DECODER = json.JSONDecoder(strict=False)
EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
AFTER_ARRAY = re.compile(rb'\s*(?:,\s*"|\}|$)')
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WHITESPACE = b" \t\r\n"
OPEN, CLOSE, END, COMMA, SPACE = b"{"[0], b"}"[0], b"]"[0], b","[0], b" "[0]

EVENT_SCHEMA = pa.schema(
    [("ordinal", pa.int64()), ("offset", pa.int64()), ("event", pa.string_view())]
)

Positions = npt.NDArray[np.int64]


class KinetoTrace:
    """One pass over a trace: iterate `batches()`, then read what it found out.

    `metadata`: every key of the file besides `traceEvents`. `json_bytes`: decompressed size.
    `pieces`: how many it was cut into. `truncated`: whether the file ends too early. `warnings`:
    what was odd, one sentence each. `progress` hears how many bytes of the file on disk have been
    read so far.
    """

    def __init__(self, path: Path, progress: Callable[[int], None] | None = None) -> None:
        self.path = path
        self.metadata: dict[str, Any] = {}
        self.json_bytes = 0
        self.truncated = False
        self.warnings: list[str] = []
        self._progress = progress or (lambda _: None)
        self._file: BinaryIO
        self._blocks: Iterator[bytes]
        self.pieces = 0
        self._broken = ""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The pieces of `traceEvents` in file order: ordinal, byte offset, text.

        Raises ProfileError where the file has no `traceEvents`.
        """
        with self.path.open("rb") as file:
            self._file, self._blocks = file, blocks(file)
            head, carry = self._read_head()
            offset = self.json_bytes - len(carry)
            tail: bytes | None
            if carry.lstrip(WHITESPACE).startswith(b"]"):
                tail = carry.lstrip(WHITESPACE)[1:]
            else:
                carry, tail_start = yield from self._cut(carry, offset)
                tail = None if tail_start is None else carry[tail_start:]
            while tail is not None and (block := self._read()):
                tail += block
        if tail is None:
            self._report_truncation(
                f"traceEvents: {len(carry)} bytes after the last whole event were lost"
            )
        self._read_metadata(head, tail)

    def slices(self, spans: list[tuple[int, int]]) -> Iterator[bytes]:
        """The bytes from start to end of the decompressed file for each span, starts ascending.

        Reads the file once more: for the few pieces that `batches` could not cut right.
        """
        with self.path.open("rb") as file:
            seen, seen_from = b"", 0
            stream = blocks(file)
            for start, end in spans:
                while seen_from + len(seen) < end:
                    skipped = min(max(start - seen_from, 0), len(seen))
                    seen, seen_from = seen[skipped:] + next(stream), seen_from + skipped
                yield seen[start - seen_from : end - seen_from]

    def _read(self) -> bytes:
        """The next block; a damaged file counts as ended at the damage."""
        block = b""
        try:
            block = next(filter(None, self._blocks), b"")
        except (EOFError, OSError) as error:
            self._broken = str(error)
        self.json_bytes += len(block)
        self._progress(self._file.tell())
        return block

    def _read_head(self) -> tuple[bytes, bytes]:
        """What precedes the events, and the start of the events."""
        seen = b""
        while len(seen) < HEAD_LIMIT_BYTES and (block := self._read()):
            seen += block
            start = seen.removeprefix(BYTE_ORDER_MARK).lstrip(WHITESPACE)
            if start.startswith(b"["):
                return b"", start[1:]
            if match := EVENTS_KEY.search(seen):
                return seen[: match.start()], seen[match.end() :]
        detail = f" ({self._broken})" if self._broken else ""
        raise ProfileError(f"{self.path}: no traceEvents array{detail}: not a profiler trace")

    def _cut(
        self, carry: bytes, offset: int
    ) -> Generator[pa.RecordBatch, None, tuple[bytes, int | None]]:
        """Yields the events; returns the last bytes, and where in them the array has ended."""
        while True:
            block = self._read()
            buffer = carry + block if block else carry + b" "
            starts, ends, array_end = _boundaries(buffer, final=not block)
            if len(starts):
                yield self._batch(buffer, starts, ends, offset)
            if array_end is not None:
                return buffer, array_end + 1
            done = int(ends[-1]) if len(ends) else 0
            if len(starts):
                following = buffer.find(b"{", done)
                done = following if following >= 0 else done
            carry, offset = buffer[done:], offset + done
            if not block:
                return carry.strip(WHITESPACE + b","), None

    def _batch(
        self, buffer: bytes, starts: Positions, ends: Positions, offset: int
    ) -> pa.RecordBatch:
        count = len(starts)
        ordinals = np.arange(self.pieces, self.pieces + count)
        self.pieces += count
        return pa.record_batch(
            [pa.array(ordinals), pa.array(starts + offset), _string_views(buffer, starts, ends)],
            schema=EVENT_SCHEMA,
        )

    def _report_truncation(self, where: str) -> None:
        self.truncated = True
        reason = f", {self._broken}" if self._broken else ""
        self.warnings.append(f"the file ends inside {where}{reason}")

    def _read_metadata(self, head: bytes, tail: bytes | None) -> None:
        """Keys before and after the events, as if the array were not there."""
        before = head.removeprefix(BYTE_ORDER_MARK).strip(WHITESPACE + b",")
        if before[:1] == b"{":
            self._read_keys(before + b"}", "before")
        after = (tail or b"").strip(WHITESPACE + b",")
        if before[:1] != b"{" or tail is None:
            return  # a bare array, or nothing left to read
        if not after.endswith(b"}") and not _decoded(b"{" + after):
            self._report_truncation("the metadata after the events")
        if after != b"}":
            self._read_keys(b"{" + after, "after")

    def _read_keys(self, text: bytes, place: str) -> None:
        if keys := _decoded(text):
            self.metadata |= keys
        elif text.strip(b"{}"):
            self.metadata |= _known_keys(text)
            self.warnings.append(f"the metadata {place} the events is not valid JSON")


def _boundaries(buffer: bytes, final: bool) -> tuple[Positions, Positions, int | None]:
    """Where the objects in `buffer` start and end, and the `]` that closes the array, if it does.

    Only whole objects that something follows are given; with `final`, the last one as well.
    """
    text = np.frombuffer(buffer, np.uint8)
    closings = np.flatnonzero(text == CLOSE)
    after = _skip_space(text, closings + 1)
    follower = text[after]
    following = _skip_space(text, after + 1)
    cut = (follower == COMMA) & (text[following] == OPEN) & (following > after)
    closes = (follower == END) | ((follower == COMMA) & (text[following] == END))
    after = np.where(follower == COMMA, following, after)
    ends, nexts = closings[cut] + 1, following[cut]
    starts = np.append(buffer.find(b"{"), nexts)
    for closing in np.flatnonzero(closes):
        last_end, array_end = int(closings[closing]) + 1, int(after[closing])
        if AFTER_ARRAY.match(buffer, array_end + 1) and _ends_event(buffer, starts, last_end):
            count = int(np.searchsorted(starts, last_end))
            return starts[:count], np.append(ends[: count - 1], last_end), array_end
    if final and len(closings) and closings[-1] > starts[-1]:
        last_end = int(closings[-1]) + 1
        if _ends_event(buffer, starts, last_end):
            return starts, np.append(ends, last_end), None
    return starts[: len(ends)], ends, None


def _ends_event(buffer: bytes, starts: Positions, end: int) -> bool:
    """Whether an event, and not just an object inside one, ends at `end`.

    The piece before `end` may have been cut inside an event: then an earlier start is the event's.
    """
    first = int(np.searchsorted(starts, end)) - 1
    for place in range(first, max(first - LONGEST_REPAIR, -1), -1):
        position, is_event = _object_at(buffer, int(starts[place]), end)
        if position == end or is_event:
            while is_event and position < end:  # events between which a comma is missing
                position, is_event = _object_at(buffer, position, end)
            return is_event
    return False


def _object_at(buffer: bytes, position: int, end: int) -> tuple[int, bool]:
    """Where the object from `position` ends (-1: not before `end`), and whether it is an event."""
    try:
        # Latin-1 gives each byte a character; what the strings say does not matter here.
        text = buffer[position:end].decode("latin-1")
        blank = len(text) - len(text.lstrip(" \t\r\n,"))
        value, length = DECODER.raw_decode(text, blank)
    except (ValueError, RecursionError):
        return -1, False
    is_event = isinstance(value, dict) and isinstance(value.get("ph"), str)
    return position + length, is_event and ("name" in value or "ts" in value)


def _skip_space(text: npt.NDArray[np.uint8], positions: Positions) -> Positions:
    """Each position moved to the next byte that is not white space, at most the last byte."""
    last = len(text) - 1
    positions = np.minimum(positions, last)
    pending = np.flatnonzero(text[positions] <= SPACE)
    while len(pending):
        positions[pending] = np.minimum(positions[pending] + 1, last)
        pending = pending[(text[positions[pending]] <= SPACE) & (positions[pending] < last)]
    return positions


def _string_views(buffer: bytes, starts: Positions, ends: Positions) -> pa.Array:
    """Arrow string views of the slices: length, first four bytes, buffer number, position."""
    text = np.frombuffer(buffer, np.uint8)
    views = np.zeros((len(starts), 4), np.int32)
    views[:, 0] = ends - starts
    first_bytes = text[np.minimum(starts[:, None] + np.arange(4), len(text) - 1)]
    views[:, 1] = first_bytes.view(np.int32)[:, 0]
    views[:, 3] = starts
    for row in np.flatnonzero(ends - starts <= 12):  # so short, a text lies inside its view
        content = buffer[starts[row] : ends[row]].ljust(12, b"\0")
        views[row, 1:] = np.frombuffer(content, np.int32)
    buffers = [None, pa.py_buffer(views), pa.py_buffer(buffer)]
    return pa.Array.from_buffers(pa.string_view(), len(starts), buffers)


def _decoded(text: bytes) -> dict[str, Any] | None:
    """The JSON object that `text` begins with, or None."""
    try:
        value, _ = DECODER.raw_decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _known_keys(text: bytes) -> dict[str, Any]:
    """What can still be read of metadata that is not valid JSON: the values of the keys we use."""
    found: dict[str, Any] = {}
    decoded = text.decode("utf-8", "replace")
    for key in ("baseTimeNanoseconds", "distributedInfo", "deviceProperties", "schemaVersion"):
        if match := re.search(rf'"{key}"\s*:\s*', decoded):
            try:
                value, end = DECODER.raw_decode(decoded, match.end())
            except (ValueError, RecursionError):
                continue
            if decoded[end:].lstrip()[:1] in (",", "}"):  # else the value itself may be cut
                found[key] = value
    return found

"""Kineto chrome traces (torch.profiler, libkineto): a stream of events, and the metadata around it.

The file is never held whole. Blocks of the decompressed JSON are cut between objects and handed on
as pieces that DuckDB parses. A piece that DuckDB takes for one event was cut right, and what
follows it begins between events: so the cutting needs no proof. Any other piece was cut inside an
event, or holds damage, or the end of the array; `repair.py` reads it with care.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.io import METADATA_LIMIT, Content, TrailingBytesError, blocks
from ingest.formats.json_text import Keys, array_start, keys_before, known_keys, leading_keys
from ingest.formats.kineto import recognition
from ingest.formats.kineto.chunks import batch, batch_of, cuts
from ingest.formats.kineto.damage import EVENT_LIMIT
from ingest.formats.source import SourceWarning

FIRST_LOOK = 16 << 10  # bytes behind a `]`, which mostly tell that it is within an event
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WHITESPACE = b" \t\r\n"
BLANK = " \t\r\n\0"
PHASE = re.compile(recognition.PHASE.pattern.decode())


class KinetoTrace:
    """One pass over a trace: iterate `batches()`, then tell `finish` where the array ends.

    `pieces`: how many the file was cut into. `json_bytes`: decompressed size. `warnings`: what was
    odd. After `finish`, `metadata`: every key of the file besides
    `traceEvents`; `truncated`: whether the file ends too early. `progress` hears how many bytes of
    the file on disk have been read so far.
    """

    def __init__(self, path: Path, progress: Callable[[int], None] | None = None) -> None:
        self.path = path
        self.metadata: dict[str, Any] = {}
        self.json_bytes = 0
        self.pieces = 0
        self.truncated = False
        self.warnings: list[SourceWarning] = []
        self._progress = progress or (lambda _: None)
        self._file: BinaryIO
        self._blocks: Iterator[bytes]
        self._broken = ""
        self._head = b""  # what precedes the array: nothing where it stands alone
        self._kept_from, self._kept = 0, b""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The pieces of `traceEvents`, and of what follows it, in file order.

        A long piece, and the last one, have an empty text. Raises ProfileError where the file has
        no `traceEvents`.
        """
        with self.path.open("rb") as file:
            self._file, self._blocks = file, blocks(file)
            carry = self._read_head()
            offset = self.json_bytes - len(carry)
            self._kept_from, self._kept = offset, carry
            more = True
            while more:
                block = self._read()
                more = bool(block)
                buffer = carry + block
                if more:
                    self._kept_from, self._kept = offset, buffer
                ends, nexts = cuts(buffer)
                done = 0
                if len(ends):
                    starts = np.append(0, nexts[:-1])
                    yield batch(buffer, starts, ends, offset, self.pieces)
                    self.pieces += len(starts)
                    done = int(nexts[-1])
                elif len(buffer) > EVENT_LIMIT:
                    done = len(buffer)
                    yield batch_of((self.pieces, offset, offset + done, ""))
                    self.pieces += 1
                carry, offset = buffer[done:], offset + done
        if carry:
            yield batch_of((self.pieces, offset, self.json_bytes, ""))
            self.pieces += 1

    def content(self) -> Content:
        """The bytes of the file by their place; the last of them are still at hand."""
        return Content(self.path, self._kept_from, self._kept)

    def is_end(self, content: Content, place: int, amid_damage: bool) -> bool:
        """Whether the `]` at `place` can end the array: what follows is metadata, and no event.

        Amid damage only metadata that is whole tells that from a `]` inside an event.
        """
        if amid_damage:
            keys = self._keys_after(content, place, FIRST_LOOK)
            if keys.complete and keys.rest.strip(BLANK):  # the list ends within an event
                return False
        keys = self._keys_after(content, place, METADATA_LIMIT)
        if amid_damage:
            return keys.complete and not keys.rest.strip(BLANK)
        return not PHASE.search(keys.rest)

    def _keys_after(self, content: Content, place: int, limit: int) -> Keys:
        after = _text(content.read(place + 1, limit))
        return leading_keys(after) if self._head else Keys({}, True, after)

    def finish(self, content: Content, array_end: int | None, lost: int) -> None:
        """Reads the metadata around the array, whose `]` is at `array_end`.

        Where the file ends before that, `lost` bytes follow the last whole event.
        """
        if self._head:
            self._take_keys(keys_before(_text(self._head)), "before")
        if array_end is None:
            self._truncate(f"traceEvents: {lost:,} bytes after the last whole event were lost")
            if self._head:  # a damaged event may hide the end of the array
                tail = content.read(self.json_bytes - lost, METADATA_LIMIT)
                self.metadata = known_keys(_text(tail)) | self.metadata
            return
        after = _text(content.read(array_end + 1, METADATA_LIMIT))
        unread = max(self.json_bytes - array_end - 1 - METADATA_LIMIT, 0)
        if self._head:
            after = self._take_keys(leading_keys(after), "after", unread)
        if self._broken and not self.truncated:
            self.truncated = True
            self._warn("truncated", f"{self._broken}, after the last event")
        if "traceEvents" in self.metadata:
            self._warn("second_trace_events", "a second traceEvents array was taken for metadata")
        if excess := len(after.strip(BLANK)):
            self._warn(
                "bytes_after_end", f"{excess:,} bytes after the end of the trace were not read"
            )

    def _read(self) -> bytes:
        """The next block; a damaged file counts as ended at the damage."""
        block = b""
        try:
            block = next(filter(None, self._blocks), b"")
        except TrailingBytesError as error:
            self._warn("bytes_after_end", str(error))
        except (EOFError, OSError) as error:
            self._broken = str(error)
        self.json_bytes += len(block)
        self._progress(self._file.tell())
        return block

    def _read_head(self) -> bytes:
        """The start of the events; what precedes them is kept."""
        seen = b""
        array = None
        more = True
        while more and not array:
            block = self._read()
            seen += block
            start = seen.removeprefix(BYTE_ORDER_MARK).lstrip(WHITESPACE)
            if start.startswith(b"["):
                return start[1:]
            more = bool(block) and len(seen) < METADATA_LIMIT
            array = array_start(seen, is_all=not more)
        if array:
            self._head = seen[: array[0]].removeprefix(BYTE_ORDER_MARK)
            return seen[array[1] :]
        where = f" in its first {len(seen):,} bytes" if len(seen) >= METADATA_LIMIT else ""
        detail = f" ({self._broken})" if self._broken else ""
        raise ProfileError(
            f"{self.path}: no traceEvents array{where}{detail}: not a profiler trace"
        )

    def _warn(self, code: str, message: str) -> None:
        self.warnings.append(SourceWarning(code, message))

    def _truncate(self, where: str) -> None:
        self.truncated = True
        reason = f", {self._broken}" if self._broken else ""
        self._warn("truncated", f"the file ends inside {where}{reason}")

    def _take_keys(self, keys: Keys, place: str, unread: int = 0) -> str:
        """Takes what could be read of the metadata, or still can; returns what follows it."""
        self.metadata |= keys.found
        if keys.complete:
            return keys.rest
        self.metadata = known_keys(keys.rest) | self.metadata
        lost = len(keys.rest.encode())
        if place == "after" and not unread and not keys.rest.rstrip().endswith("}"):
            self._truncate(f"the metadata after the events: {lost:,} bytes of it were lost")
        else:
            limit = f"longer than {METADATA_LIMIT:,} bytes"
            fault = limit if unread else "not valid JSON, or nested deep"
            self._warn(
                "metadata_incomplete",
                f"the metadata {place} the events is {fault}: "
                f"of its last {lost + unread:,} bytes only the known keys were read",
            )
        return ""


def _text(metadata: bytes) -> str:
    return metadata.decode("utf-8", "replace")

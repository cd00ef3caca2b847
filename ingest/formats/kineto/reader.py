"""Chrome traces of Kineto (torch.profiler, libkineto): a stream of events with metadata around it.

The file is never in memory as a whole. Blocks of the decompressed JSON are cut between objects, and
DuckDB parses the pieces. If DuckDB accepts a piece as one event, the cut was right, and the next
piece begins between events. So the cuts need no other check. Any other piece was cut inside an
event, is damaged, or holds the end of the array: `repair.py` reads it again.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.io import METADATA_LIMIT, Content, TrailingBytesError, blocks
from ingest.formats.json_text import (
    Keys,
    array_start,
    is_cut,
    keys_before,
    leading_keys,
    wanted_keys,
)
from ingest.formats.kineto import recognition
from ingest.formats.kineto.backslashes import (
    LITERAL,
    PLACEHOLDER,
    LiteralContent,
    escaped,
    has_invalid_escape,
    without_placeholders,
)
from ingest.formats.kineto.chunks import batch, batch_of, cuts, with_backslash
from ingest.formats.kineto.damage import EVENT_LIMIT
from ingest.formats.kineto.metadata import USED_KEYS
from ingest.formats.source import SourceWarning

FIRST_LOOK = 16 << 10  # bytes after a `]`; usually enough to show that it is inside an event
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WHITESPACE = b" \t\r\n"
BLANK = " \t\r\n\0"
LAST_EVENT = re.compile(rb"\}(?=\s*\])")  # its end, unless an argument of the event ends like this
BETWEEN_KEYS = BLANK + ","
PHASE = re.compile(recognition.PHASE.pattern.decode())


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class KinetoTrace:
    """Reader of a trace, in one pass: iterate `batches()`, then call `finish()`.

    `pieces`: number of pieces that the file was cut into. `json_bytes`: size of the decompressed
    file. `warnings`: warnings about the file. `metadata`: every key of the file except
    `traceEvents`, known after `finish()`. `truncated`: whether the file ends early, known after
    `finish()`. `backslashes`: number of pieces with a backslash that is not before a quote.
    `has_escaped_backslash`: whether two backslashes follow each other in the file.
    `progress`: called with the bytes of the file on disk read so far. `has_literal_backslashes`:
    see `backslashes.py`.
    """

    def __init__(
        self,
        path: Path,
        progress: Callable[[int], None] | None = None,
        has_literal_backslashes: bool = False,
    ) -> None:
        self.path = path
        self.has_literal_backslashes = has_literal_backslashes
        self.metadata: dict[str, Any] = {}
        self.json_bytes = 0
        self.pieces = 0
        self.backslashes = 0
        self.has_escaped_backslash = False
        self.truncated = False
        self.warnings: list[SourceWarning] = []
        self._progress = progress or (lambda _: None)
        self._file: BinaryIO
        self._blocks: Iterator[bytes]
        self._broken = ""
        self._head = b""  # the text before the array; empty if the file is only an array
        self._kept_from, self._kept = 0, b""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the pieces of `traceEvents` and of the text after it, in file order.

        The text of a long piece is left empty, and so is what follows the last event. Raise
        ProfileError if the file has no `traceEvents`.
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
                    self.backslashes += with_backslash(buffer, ends)
                    yield batch(buffer, starts, ends, offset, self.pieces)
                    self.pieces += len(starts)
                    done = int(nexts[-1])
                elif len(buffer) > EVENT_LIMIT:
                    done = len(buffer)
                    self.backslashes += bool(LITERAL.search(buffer))
                    yield batch_of((self.pieces, offset, offset + done, ""))
                    self.pieces += 1
                carry, offset = buffer[done:], offset + done
        # A cut inside a damaged event would hide that the `]` after it does not end the array.
        if (last := LAST_EVENT.search(carry)) and _is_json(carry[: last.end()]):
            starts, ends = np.array([0]), np.array([last.end()])
            self.backslashes += with_backslash(carry, ends)
            yield batch(carry, starts, ends, offset, self.pieces)
            self.pieces += 1
            carry, offset = carry[last.end() :], offset + last.end()
        if carry:
            self.backslashes += bool(LITERAL.search(carry))
            yield batch_of((self.pieces, offset, self.json_bytes, ""))
            self.pieces += 1

    def content(self) -> Content:
        """Return access to the file's bytes by position. The last of these are still in memory."""
        kind = LiteralContent if self.has_literal_backslashes else Content
        return kind(self.path, self._kept_from, self._kept)

    def is_end(self, content: Content, position: int, in_damage: bool) -> bool:
        """Return whether the `]` at `position` can end the array: metadata follows, not an event.

        In damage, the metadata must be complete, because the `]` may be inside an event.
        """
        if in_damage:
            keys = self._keys_after(content, position, FIRST_LOOK)
            if keys.complete and keys.rest.strip(BLANK):  # this list ends inside an event
                return False
            if not keys.complete and not is_cut("{" + keys.rest.lstrip(BETWEEN_KEYS)):
                return False
        keys = self._keys_after(content, position, METADATA_LIMIT)
        if in_damage:
            return keys.complete and not keys.rest.strip(BLANK)
        return not PHASE.search(keys.rest)

    def _keys_after(self, content: Content, position: int, limit: int) -> Keys:
        after = self._text(content.read(position + 1, limit))
        return leading_keys(after) if self._head else Keys({}, True, after)

    def finish(self, content: Content, array_end: int | None, lost: int) -> None:
        """Read the metadata around the array.

        `array_end`: position of the array's `]`, or None if the file ends before it. Then `lost`
        bytes follow the last complete event.
        """
        if self._head:
            self._take_keys(keys_before(self._text(self._head)), "before")
        if array_end is None:
            self._truncate(f"traceEvents: {lost:,} bytes after the last complete event were lost")
            if self._head:  # the end of the array may be inside a damaged event
                tail = content.read(self.json_bytes - lost, METADATA_LIMIT)
                self.metadata = wanted_keys(self._text(tail), USED_KEYS) | self.metadata
            return
        after = self._text(content.read(array_end + 1, METADATA_LIMIT))
        unread = max(self.json_bytes - array_end - 1 - METADATA_LIMIT, 0)
        if self._head:
            after = self._take_keys(leading_keys(after), "after", unread)
        if self._broken and not self.truncated:
            self.truncated = True
            self._warn("truncated", f"{self._broken}, after the last event")
        if "traceEvents" in self.metadata:
            self._warn(
                "second_trace_events",
                "the file has a second traceEvents array, whose events were not read",
            )
        if excess := len(after.strip(BLANK)):
            self._warn(
                "bytes_after_end", f"{excess:,} bytes after the end of the trace were not read"
            )

    def _read(self) -> bytes:
        """Return the next block. A damaged file ends at the damage."""
        block = b""
        try:
            block = next(filter(None, self._blocks), b"")
        except TrailingBytesError as error:
            self._warn("bytes_after_end", str(error))
        except (EOFError, OSError) as error:
            self._broken = str(error)
        self.json_bytes += len(block)
        # A search for one byte is ten times as fast as one for two.
        self.has_escaped_backslash = self.has_escaped_backslash or (
            b"\\" in block and rb"\\" in block
        )
        self._progress(self._file.tell())
        return block

    def _read_head(self) -> bytes:
        """Return the start of the events, and keep the text before them."""
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

    def _take_keys(self, keys: Keys, side: str, unread: int = 0) -> str:
        """Add readable keys to the metadata, and return the text after it.

        `side`: `before` or `after` the events. `unread`: bytes beyond the limit on metadata.
        """
        self.metadata |= keys.found
        if keys.complete:
            return keys.rest
        self.metadata = wanted_keys(keys.rest, USED_KEYS) | self.metadata
        lost = len(keys.rest.encode())
        if side == "after" and not unread and not keys.rest.rstrip().endswith("}"):
            self._truncate(f"the metadata after the events: {lost:,} bytes of it were lost")
        else:
            limit = f"longer than {METADATA_LIMIT:,} bytes"
            fault = limit if unread else "not valid JSON, or nested too deeply"
            self._warn(
                "metadata_incomplete",
                f"the metadata {side} the events is {fault}: "
                f"only known keys were read from its last {lost + unread:,} bytes",
            )
        return ""

    def _text(self, metadata: bytes) -> str:
        if not self.has_literal_backslashes:
            return metadata.decode("utf-8", "replace")
        text = without_placeholders(metadata).decode("utf-8", "replace")
        # Metadata that users add is JSON.
        return escaped(text.replace("\\", PLACEHOLDER)) if has_invalid_escape(text) else text

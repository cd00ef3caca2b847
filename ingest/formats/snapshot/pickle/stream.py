"""The bytes of a pickle, read block by block: there are enough at hand, or the file ends early."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from ingest.errors import IngestError, ProfileError
from ingest.formats.io import TrailingBytesError, blocks
from ingest.formats.snapshot.pickle.opcodes import ARGUMENT_BYTES, LONG1, SHORT_TEXT
from ingest.formats.source import SourceWarning

MAX_SNAPSHOT_BYTES = 16 << 30  # of the pickle itself, inflated
MARGIN = 272  # no instruction read without a check of its length is longer


class PickleBytes:
    """What is at hand of a pickle is `data`; places are those in it.

    Before `safe`, an instruction of at most MARGIN bytes is at hand as a whole. `read_bytes`: how
    much was read so far, inflated. `warnings`: what was odd about the file.
    `progress` hears how many bytes of the file on disk have been read.
    """

    def __init__(self, path: Path, progress: Callable[[int], None] | None = None) -> None:
        self.path = path
        self.data = b""
        self.safe = self.read_bytes = 0
        self.warnings: list[SourceWarning] = []
        self.limit = max_snapshot_bytes()
        self._progress = progress or (lambda _: None)
        self._blocks = self._read()
        self._offset = 0  # of the data in the pickle
        self._ended = False

    def whole(self, at: int) -> int:
        """Has the instruction at `at` as a whole. Returns where it is now; raises ProfileError."""
        at = self.have(at, MARGIN + 1)
        size = 1 + ARGUMENT_BYTES.get(self.data[at], 0)
        if self.data[at] in (LONG1, SHORT_TEXT):
            size += self.data[at + 1]
        self.need(at, size)
        return at

    def have(self, at: int, size: int) -> int:
        """Has `size` bytes from `at` on, if the file does. Returns where `at` is now."""
        if self._ended or self._left(at) >= size:
            return at
        parts = [self.data[at:]]
        self._offset += at
        while self._left(0) < size and not self._ended:
            parts.append(next(self._blocks, b""))
            self._ended = not parts[-1]
        if self._ended:
            parts.append(bytes(2 * MARGIN))  # to be looked at without a check of the length
        self.data = b"".join(parts)
        self.safe = self._left(0) - MARGIN
        return 0

    def need(self, at: int, size: int) -> None:
        """Raises ProfileError if the file ends before `size` bytes from `at` on."""
        if self._left(at) < size:
            raise ProfileError(
                f"{self.path}: the file ends after {self.read_bytes:,} bytes, inside the pickle"
            )

    def read_on(self, at: int) -> int:
        """Reads the file to its end. Returns how many bytes there are from `at` on."""
        end = self._offset + at
        for _ in self._blocks:
            pass
        return self.read_bytes - end

    def fail(self, at: int, why: str) -> NoReturn:
        """Raises ProfileError, with the place in the pickle."""
        raise ProfileError(f"{self.path}: byte {self._offset + at:,} of the pickle: {why}")

    def _left(self, at: int) -> int:
        """Bytes of the file from `at` to the end of the data at hand."""
        return self.read_bytes - self._offset - at

    def _read(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            try:
                for block in filter(None, blocks(file)):
                    self.read_bytes += len(block)
                    self._progress(file.tell())
                    if self.read_bytes > self.limit:
                        raise ProfileError(
                            f"{self.path}: a pickle of more than {self.limit:,} bytes; if that is "
                            "right, allow it more with TRACEHOUSE_MAX_SNAPSHOT_BYTES"
                        )
                    yield block
            except TrailingBytesError as error:
                self.warnings.append(SourceWarning("bytes_after_end", str(error)))
            except (EOFError, OSError) as error:
                raise ProfileError(f"{self.path}: {error}, inside the pickle") from error


def max_snapshot_bytes() -> int:
    """How long a pickle may be, bytes. Raises IngestError where that is no number."""
    said = os.environ.get("TRACEHOUSE_MAX_SNAPSHOT_BYTES") or MAX_SNAPSHOT_BYTES
    try:
        size = int(said)
    except ValueError:
        size = 0
    if size < 1:
        raise IngestError(
            f"TRACEHOUSE_MAX_SNAPSHOT_BYTES: must be a number of bytes from 1 on, not {said}"
        )
    return size

"""The bytes of a pickle, read block by block."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from ingest.errors import IngestError, ProfileError
from ingest.formats.io import TrailingBytesError, blocks
from ingest.formats.pickle.opcodes import ARGUMENT_BYTES, LONG1, SHORT_TEXT
from ingest.formats.source import SourceWarning

MAX_SNAPSHOT_BYTES = 16 << 30  # of the decompressed pickle
MARGIN = 272  # longest opcode with arguments that is read without a check of its length


class PickleBytes:
    """The loaded part of a pickle, `data`. Positions are relative to it.

    An opcode of at most MARGIN bytes that begins before `safe` is loaded completely. `read_bytes`:
    bytes of the decompressed pickle read so far. `warnings`: warnings about the file. `progress`:
    called with the bytes of the file on disk read so far.
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

    def load_opcode(self, at: int) -> int:
        """Load the complete opcode at `at`. Return its new position.

        Raise ProfileError if the file ends inside it.
        """
        at = self.load(at, MARGIN + 1)
        size = 1 + ARGUMENT_BYTES.get(self.data[at], 0)
        if self.data[at] in (LONG1, SHORT_TEXT):
            size += self.data[at + 1]
        self.require(at, size)
        return at

    def load(self, at: int, size: int) -> int:
        """Load `size` bytes from `at`, or fewer if the file ends. Return its new position."""
        if self._ended or self._left(at) >= size:
            return at
        parts = [self.data[at:]]
        self._offset += at
        while self._left(0) < size and not self._ended:
            parts.append(next(self._blocks, b""))
            self._ended = not parts[-1]
        if self._ended:
            parts.append(bytes(2 * MARGIN))  # padding, to be read without a check of the length
        self.data = b"".join(parts)
        self.safe = self._left(0) - MARGIN
        return 0

    def require(self, at: int, size: int) -> None:
        """Raise ProfileError if the file has fewer than `size` bytes from `at`."""
        if self._left(at) < size:
            raise ProfileError(
                f"{self.path}: the file ends after {self.read_bytes:,} bytes, inside the pickle"
            )

    def read_on(self, at: int) -> int:
        """Read the file to its end. Return the number of bytes from `at`."""
        end = self._offset + at
        for _ in self._blocks:
            pass
        return self.read_bytes - end

    def fail(self, at: int, why: str) -> NoReturn:
        """Raise ProfileError with the position in the pickle and the reason."""
        raise ProfileError(f"{self.path}: byte {self._offset + at:,} of the pickle: {why}")

    def _left(self, at: int) -> int:
        """Return the number of the file's bytes from `at` to the end of the loaded data."""
        return self.read_bytes - self._offset - at

    def _read(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            try:
                for block in filter(None, blocks(file)):
                    self.read_bytes += len(block)
                    self._progress(file.tell())
                    if self.read_bytes > self.limit:
                        raise ProfileError(
                            f"{self.path}: the pickle is larger than {self.limit:,} bytes; if you "
                            "trust the file, set TRACEHOUSE_MAX_SNAPSHOT_BYTES to a higher number"
                        )
                    yield block
            except TrailingBytesError as error:
                self.warnings.append(SourceWarning("bytes_after_end", str(error)))
            except (EOFError, OSError) as error:
                raise ProfileError(f"{self.path}: {error}, inside the pickle") from error


def max_snapshot_bytes() -> int:
    """Return the largest allowed size of a pickle: TRACEHOUSE_MAX_SNAPSHOT_BYTES, or 16 GiB.

    Raise IngestError if the environment variable is not a whole number of at least 1.
    """
    setting = os.environ.get("TRACEHOUSE_MAX_SNAPSHOT_BYTES") or MAX_SNAPSHOT_BYTES
    try:
        size = int(setting)
    except ValueError:
        size = 0
    if size < 1:
        raise IngestError(
            "TRACEHOUSE_MAX_SNAPSHOT_BYTES: must be a whole number of bytes, at least 1, "
            f"not {setting}"
        )
    return size

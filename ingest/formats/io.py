"""Opening input files: decompression by content, checksums, and bytes by their place."""

import hashlib
import os
from collections.abc import Generator, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO

from isal import isal_zlib

from ingest.errors import IngestError, ProfileError

GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31  # zlib's number for a gzip header and the largest window
BLANK_START = b"\xef\xbb\xbf \t\r\n"  # a byte order mark, and white space
METADATA_LIMIT = 16 << 20  # what stands before the events, or after them, may take so much
CHUNK_BYTES = 16 << 10
BLOCK_BYTES = 4 << 20
MAX_INFLATION = 200  # traces as torch writes them inflate 14 to 18 times
ALWAYS_INFLATED = 64 << 20


class TrailingBytesError(OSError):
    """A compressed stream is intact, but what follows it is not compressed."""


def is_compressed(file: BinaryIO) -> bool:
    """Whether an open file is gzip, by its content: its name may be wrong."""
    file.seek(0)
    magic = file.read(len(GZIP_MAGIC))
    file.seek(0)
    return magic == GZIP_MAGIC


def start(file: BinaryIO, size: int) -> bytes:
    """The first `size` bytes of an open file's content; gzip is decompressed.

    Raises EOFError or OSError where the compressed stream is cut or damaged before them.
    """
    if not is_compressed(file):
        return file.read(size)
    found = b""
    for piece in _decoded(file, repeat(CHUNK_BYTES)):
        found += piece
        if len(found) >= size:
            break
    return found[:size]


def blocks(file: BinaryIO) -> Iterator[bytes]:
    """The content of an open file from its start, in blocks; gzip is decompressed.

    After the last intact byte of a compressed stream, raises EOFError where the stream is cut and
    OSError where it is damaged. Raises ProfileError where it inflates to more than
    `max_inflation()` times its size.
    """
    if not is_compressed(file):
        while block := file.read(BLOCK_BYTES):
            yield block
        return
    times = max_inflation()
    budget = max(ALWAYS_INFLATED, int(times * os.fstat(file.fileno()).st_size))
    pieces: list[bytes] = []
    size = 0
    failure: EOFError | OSError | None = None
    try:
        for piece in _inflated(file):
            pieces.append(piece)
            size += len(piece)
            budget -= len(piece)
            if budget < 0:
                raise ProfileError(
                    f"{file.name}: inflates to more than {times:g} times its size; if that is "
                    "right, allow it more with TRACEHOUSE_MAX_INFLATION"
                )
            if size >= BLOCK_BYTES:
                yield b"".join(pieces)
                pieces, size = [], 0
    except (EOFError, OSError) as error:
        failure = error
    yield b"".join(pieces)
    if failure:
        raise failure


def max_inflation() -> float:
    """How many times its size a file may inflate to. Raises IngestError where that is no number."""
    said = os.environ.get("TRACEHOUSE_MAX_INFLATION") or MAX_INFLATION
    try:
        times = min(float(said), 1e9)
    except ValueError:
        times = 0
    if not times >= 1:  # nor is nan
        raise IngestError(f"TRACEHOUSE_MAX_INFLATION: must be a number from 1 on, not {said}")
    return times


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    """The content up to the byte at which the compressed stream is damaged."""
    given = 0
    try:
        for piece in _decoded(file, repeat(CHUNK_BYTES)):
            yield piece
            given += len(piece)
    except TrailingBytesError:
        raise
    except OSError:
        # The decoder returns nothing of the chunk that holds the damage. Fed byte by byte, it
        # returns all that precedes the damage.
        sound = max(file.tell() - 1, 0) // CHUNK_BYTES
        file.seek(0)
        for piece in _decoded(file, chain(repeat(CHUNK_BYTES, sound), repeat(1))):
            yield piece[given:]
            given -= min(given, len(piece))


def _decoded(file: BinaryIO, sizes: Iterator[int]) -> Iterator[bytes]:
    decoder = isal_zlib.decompressobj(GZIP_WINDOW)
    while compressed := file.read(next(sizes)):
        while compressed:
            try:
                yield decoder.decompress(compressed, BLOCK_BYTES)
            except isal_zlib.IsalError as error:  # type: ignore[misc]  # the stub has it wrong
                place = f"byte {file.tell() - 1:,} of the file"
                raise OSError(f"the compressed stream is damaged at {place}: {error}") from error
            compressed = decoder.unconsumed_tail
            if decoder.eof and (compressed := _further_member(file, decoder.unused_data)):
                decoder = isal_zlib.decompressobj(GZIP_WINDOW)
    if not decoder.eof:
        raise EOFError(f"the compressed stream ends after {file.tell():,} bytes")


def _further_member(file: BinaryIO, unused: bytes) -> bytes:
    """The start of the next member of a compressed stream, without the padding before it."""
    following = unused.lstrip(b"\0")
    if following and not following.startswith(GZIP_MAGIC[: len(following)]):
        place = f"byte {file.tell() - len(following):,} of the file"
        raise TrailingBytesError(f"what follows the compressed stream at {place} is no gzip")
    return following


def sha256(path: Path) -> str:
    """The hexadecimal SHA-256 of the file as it lies on disk."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Content:
    """The decompressed bytes of a file by their position, read once and forwards.

    `kept`: the bytes from `kept_from` to the end, which are not read again.
    """

    def __init__(self, path: Path, kept_from: int, kept: bytes) -> None:
        self._kept_from, self._kept = kept_from, kept
        self._seen, self._seen_from = b"", 0
        self._needed = 0
        self._stream = _readable_blocks(path)

    def read(self, start: int, size: int) -> bytes:
        """`size` bytes from `start`, fewer at the end of the file."""
        if start >= self._kept_from:
            start -= self._kept_from
            return self._kept[start : start + size]
        while self._seen_from + len(self._seen) < start + size:
            block = next(self._stream, b"")
            if not block:
                break
            past = min(max(self._needed - self._seen_from, 0), len(self._seen))
            self._seen, self._seen_from = self._seen[past:] + block, self._seen_from + past
        start -= self._seen_from
        return self._seen[start : start + size]

    def forget(self, before: int) -> None:
        """Frees the bytes before this position, which must not be asked for again."""
        self._needed = before

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()


def _readable_blocks(path: Path) -> Generator[bytes, None, None]:
    """The blocks up to where the file is damaged."""
    with path.open("rb") as file:
        try:
            yield from filter(None, blocks(file))
        except (EOFError, OSError):
            return

"""Reading of input files: decompression, checksums, and access to bytes by position."""

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
BLANK_START = b"\xef\xbb\xbf \t\r\n"  # a byte order mark and white space
METADATA_LIMIT = 16 << 20  # largest size of the metadata before the events, and after them
CHUNK_BYTES = 16 << 10
BLOCK_BYTES = 4 << 20
MAX_INFLATION = 200  # torch's traces inflate 14 to 18 times
ALWAYS_INFLATED = 64 << 20


def state_of(file: Path) -> tuple[int, int]:
    """Return what changes if a local file is written: its size and time."""
    found = file.stat()
    return found.st_size, found.st_mtime_ns


class TrailingBytesError(OSError):
    """A compressed stream is intact, but uncompressed data follows it."""


def is_compressed(file: BinaryIO) -> bool:
    """Return whether an open file is gzip, by its content, because its name may be wrong."""
    file.seek(0)
    magic = file.read(len(GZIP_MAGIC))
    file.seek(0)
    return magic == GZIP_MAGIC


def start(file: BinaryIO, size: int) -> bytes:
    """Return the first `size` bytes of an open file's content, decompressed if it is gzip.

    Raise EOFError or OSError if the compressed stream is truncated or damaged within these bytes.
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
    """Yield the content of an open file from its start in blocks, decompressed if it is gzip.

    After the last intact byte of a compressed stream, raise EOFError if the stream is truncated
    and OSError if it is damaged. Raise ProfileError if it inflates to more than
    `max_inflation()` times its size.
    """
    if not is_compressed(file):
        while block := file.read(BLOCK_BYTES):
            yield block
        return
    times = max_inflation()
    budget = max(ALWAYS_INFLATED, int(times * file.seek(0, os.SEEK_END)))
    file.seek(0)
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
                    f"{file.name}: inflates to more than {times:g} times its size; if you trust "
                    "the file, set TRACEHOUSE_MAX_INFLATION to a higher number"
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
    """Return how many times its size a file may inflate to: TRACEHOUSE_MAX_INFLATION, or 200.

    Raise IngestError if the environment variable is not a number of at least 1.
    """
    setting = os.environ.get("TRACEHOUSE_MAX_INFLATION") or MAX_INFLATION
    try:
        times = min(float(setting), 1e9)
    except ValueError:
        times = 0
    if not times >= 1:  # true for nan too
        raise IngestError(
            f"TRACEHOUSE_MAX_INFLATION: must be a number of at least 1, not {setting}"
        )
    return times


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content up to the byte at which the compressed stream is damaged."""
    yielded = 0
    try:
        for piece in _decoded(file, repeat(CHUNK_BYTES)):
            yield piece
            yielded += len(piece)
    except TrailingBytesError:
        raise
    except OSError:
        # The decoder returns nothing from the chunk that holds the damage. Read that chunk again
        # byte by byte, to get everything before the damage.
        intact = max(file.tell() - 1, 0) // CHUNK_BYTES
        file.seek(0)
        for piece in _decoded(file, chain(repeat(CHUNK_BYTES, intact), repeat(1))):
            yield piece[yielded:]
            yielded -= min(yielded, len(piece))


def _decoded(file: BinaryIO, sizes: Iterator[int]) -> Iterator[bytes]:
    decoder = isal_zlib.decompressobj(GZIP_WINDOW)
    while compressed := file.read(next(sizes)):
        while compressed:
            try:
                yield decoder.decompress(compressed, BLOCK_BYTES)
            except isal_zlib.IsalError as error:  # type: ignore[misc]  # the stub is wrong
                position = f"byte {file.tell() - 1:,} of the file"
                raise OSError(f"the compressed stream is damaged at {position}: {error}") from error
            compressed = decoder.unconsumed_tail
            if decoder.eof and (compressed := _next_member(file, decoder.unused_data)):
                decoder = isal_zlib.decompressobj(GZIP_WINDOW)
    if not decoder.eof:
        raise EOFError(f"the compressed stream ends after {file.tell():,} bytes")


def _next_member(file: BinaryIO, unused: bytes) -> bytes:
    """Return the start of the next gzip member, without the padding before it."""
    following = unused.lstrip(b"\0")
    if following and not following.startswith(GZIP_MAGIC[: len(following)]):
        position = f"byte {file.tell() - len(following):,} of the file"
        raise TrailingBytesError(
            f"the data after the compressed stream, at {position}, is not gzip"
        )
    return following


def sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of the file on disk, before any decompression."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Content:
    """Gives access to a file's decompressed bytes by position. It reads the file once, forwards.

    `kept`: the bytes from position `kept_from` to the end, which are not read again.
    """

    def __init__(self, path: Path, kept_from: int, kept: bytes) -> None:
        self._kept_from, self._kept = kept_from, kept
        self._seen, self._seen_from = b"", 0
        self._needed = 0
        self._stream = _readable_blocks(path)

    def read(self, start: int, size: int) -> bytes:
        """Return `size` bytes from position `start`, or fewer at the end of the file."""
        if start >= self._kept_from:
            start -= self._kept_from
            return self._kept[start : start + size]
        while self._seen_from + len(self._seen) < start + size:
            block = next(self._stream, b"")
            if not block:
                break
            unneeded = min(max(self._needed - self._seen_from, 0), len(self._seen))
            self._seen, self._seen_from = self._seen[unneeded:] + block, self._seen_from + unneeded
        start -= self._seen_from
        return self._seen[start : start + size]

    def forget(self, before: int) -> None:
        """Free the bytes before this position. They cannot be read again."""
        self._needed = before

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _readable_blocks(path: Path) -> Generator[bytes, None, None]:
    """Yield the blocks up to the first damage in the file."""
    with path.open("rb") as file:
        try:
            yield from filter(None, blocks(file))
        except (EOFError, OSError):
            return

"""Opening input files: decompression by content, checksums, and which profile a file holds."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from isal import isal_zlib

GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31  # zlib's number for a gzip header and the largest window
HEAD_BYTES = 1 << 20
CHUNK_BYTES = 16 << 10
BLOCK_BYTES = 4 << 20


def blocks(file: BinaryIO) -> Iterator[bytes]:
    """The content of a file open at its start, in blocks, inflated where it is gzip.

    A compressed stream that breaks off, or is damaged, gives what comes before and then raises
    EOFError or OSError.
    """
    compressed = file.read(2) == GZIP_MAGIC  # names are not trusted
    file.seek(0)
    if not compressed:
        while block := file.read(BLOCK_BYTES):
            yield block
        return
    pieces: list[bytes] = []
    size = 0
    failure: EOFError | OSError | None = None
    try:
        for piece in _inflated(file):
            pieces.append(piece)
            size += len(piece)
            if size >= BLOCK_BYTES:
                yield b"".join(pieces)
                pieces, size = [], 0
    except (EOFError, OSError) as error:
        failure = error
    yield b"".join(pieces)
    if failure:
        raise failure


def _inflated(file: BinaryIO) -> Iterator[bytes]:
    """Small pieces, because the one in which the damage lies is lost whole."""
    decoder = isal_zlib.decompressobj(GZIP_WINDOW)
    while compressed := file.read(CHUNK_BYTES):
        while compressed:
            try:
                yield decoder.decompress(compressed, BLOCK_BYTES)
            except isal_zlib.IsalError as error:  # type: ignore[misc]  # the stub has it wrong
                raise OSError(f"the compressed stream is damaged: {error}") from error
            compressed = decoder.unconsumed_tail
            if decoder.eof and (compressed := decoder.unused_data.lstrip(b"\0")):
                decoder = isal_zlib.decompressobj(GZIP_WINDOW)  # a further member
    if not decoder.eof:
        raise EOFError("the compressed stream is cut short")


def sha256(path: Path) -> str:
    """The hexadecimal SHA-256 of the file as it lies on disk."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def kind_of(path: Path) -> str:
    """What a file holds, by its first bytes.

    `kineto`: a chrome trace; `memory_snapshot`: a pickle; `memory_timeline`: rows of
    `export_memory_timeline`; `compile_log`: torch's structured log; `other`: none of these.
    Raises OSError for an unreadable file.
    """
    head = _head(path)
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] == b"\x80":
        return "memory_snapshot"
    if b'"traceEvents"' in head or re.match(rb"\[\s*(\{|\]\s*$)", text):
        return "kineto"
    if re.match(rb"\[\s*\[", text):
        return "memory_timeline"
    if re.match(rb"V\d{4} \d\d:\d\d:\d\d", text):
        return "compile_log"
    return "other"


def _head(path: Path) -> bytes:
    head = b""
    with path.open("rb") as file:
        try:
            for block in blocks(file):
                head += block
                if len(head) >= HEAD_BYTES:
                    break
        except (EOFError, OSError):
            pass  # what comes before the damage says what the file is
    return head

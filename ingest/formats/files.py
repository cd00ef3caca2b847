"""Opening input files: decompression by content, checksums, and which profile a file holds."""

import gzip
import hashlib
import re
from pathlib import Path
from typing import BinaryIO, cast

from isal import igzip_threaded

GZIP_MAGIC = b"\x1f\x8b"
HEAD_BYTES = 1 << 20


def is_gzip(path: Path) -> bool:
    """Whether the file begins as gzip does; names are not trusted."""
    with path.open("rb") as file:
        return file.read(2) == GZIP_MAGIC


def open_decompressed(path: Path) -> BinaryIO:
    """The file's bytes, inflated (in a thread of its own) where they are gzip."""
    if is_gzip(path):
        return cast(BinaryIO, igzip_threaded.open(path, "rb", threads=1))
    return path.open("rb")


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
    # zlib's error and a cut stream still leave what came before them readable.
    with path.open("rb") as raw:
        if raw.read(2) != GZIP_MAGIC:
            raw.seek(0)
            return raw.read(HEAD_BYTES)
    head = b""
    try:
        with gzip.open(path) as file:
            while len(head) < HEAD_BYTES and (block := file.read(1 << 16)):
                head += block
    except (EOFError, gzip.BadGzipFile, OSError):
        pass
    return head

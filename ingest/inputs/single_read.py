"""Single reads of objects: whoever reads an object from its start also computes its checksum."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Optional

from ingest.formats.io import BLOCK_BYTES


class SingleRead:
    """What was read of an object. Its first block is kept, because several readers begin there.

    Only the first block of the last object is kept.
    """

    _latest: ClassVar[Optional["SingleRead"]] = None

    def __init__(self) -> None:
        self._first_block = b""
        self._sum = hashlib.sha256()
        self._summed_bytes = 0

    def of(self, file: Any) -> Any:
        """Return an open file of fsspec, from which this object learns what is read."""
        file.cache.fetcher = partial(self._fetch, file.cache.fetcher)
        return file

    def sha256(self, file: Any) -> str:
        """Return the hexadecimal SHA-256 of an open object, whose unread rest is read."""
        file.seek(self._summed_bytes)
        while file.read(BLOCK_BYTES):
            pass
        return self._sum.hexdigest()

    def _fetch(self, fetch: Callable[[int, int], bytes], start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`, from the storage or from the first block."""
        if end <= len(self._first_block):
            return self._first_block[start:end]
        content = fetch(start, end)
        self._keep(content if start == 0 else b"")
        if start <= self._summed_bytes:
            unread = content[self._summed_bytes - start :]
            self._sum.update(unread)
            self._summed_bytes += len(unread)
        return content

    def _keep(self, block: bytes) -> None:
        if SingleRead._latest and SingleRead._latest is not self:
            SingleRead._latest._first_block = b""
        SingleRead._latest, self._first_block = self, block

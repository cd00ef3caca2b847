"""Single reads of objects: whoever reads an object from its start also computes its checksum."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar
from weakref import WeakSet

from ingest.errors import ObjectError, first_line
from ingest.formats.io import BLOCK_BYTES

KEPT_BYTES = 64 << 20  # of the first blocks of all objects
EXPIRED = "FileExpired"  # the error of s3fs for another version of an open object
MARGIN_BYTES = 1 << 20  # readers ask for a first block with a few bytes more or less


class SingleRead:
    """All reads of one version of an object at `path`.

    Several readers begin at the start, so the first block is kept until a later one is read, if
    there is space. Errors are ObjectErrors, which readers do not mistake for damage of the file.
    """

    _with_block: ClassVar["WeakSet[SingleRead]"] = WeakSet()

    def __init__(self, path: str) -> None:
        self._path = path
        self._tag: str | None = None
        self._failure: ObjectError | None = None
        self._first_block = b""
        self._sum = hashlib.sha256()
        self._summed_bytes = 0

    def opened(self, open_object: Callable[[], Any]) -> Any:
        """Return the open file of fsspec that `open_object` returns. This object sees its reads.

        Raise ObjectError if it cannot be opened, or if it is another version of the object.
        """
        try:
            file = open_object()
            tag = str(file.details.get("ETag"))
        except Exception as error:  # the libraries have errors of their own
            raise self._failed(error) from error
        if self._tag not in (None, tag):
            raise self._failed(None)
        self._tag = tag
        first_end = min(file.size, file.blocksize + MARGIN_BYTES)
        file.cache.fetcher = partial(self._fetch, file.cache.fetcher, first_end)
        return file

    def sha256(self, file: Any) -> str:
        """Return the hexadecimal SHA-256 of the object, which is open. Read its unread rest.

        Raise ObjectError also if an earlier read failed, whatever its reader made of that.
        """
        if self._failure:
            raise self._failure
        file.seek(self._summed_bytes)
        while file.read(BLOCK_BYTES):
            pass
        self._keep(b"")
        if self._summed_bytes != file.size:
            raise ObjectError(f"{self._path}: cannot be read to its end; add it again")
        return self._sum.hexdigest()

    def _fetch(
        self, fetch: Callable[[int, int], bytes], first_end: int, start: int, end: int
    ) -> bytes:
        """Return the bytes from `start` to `end`, or more, which fsspec keeps for later reads.

        The first block ends at `first_end`.
        """
        if end <= len(self._first_block):
            return self._first_block[start:]
        end = end if start else max(end, first_end)
        try:
            content = fetch(start, end)
            if len(content) < end - start:
                raise EOFError("the answer is cut short")
        except Exception as error:
            raise self._failed(error) from error
        self._keep(content if start == 0 else b"")
        if start <= self._summed_bytes:
            unread = content[self._summed_bytes - start :]
            self._sum.update(unread)
            self._summed_bytes += len(unread)
        return content

    def _keep(self, block: bytes) -> None:
        """Keep the first block of this object, if there is space, and not its earlier one."""
        self._first_block = b""
        self._with_block.discard(self)
        kept_bytes = sum(len(each._first_block) for each in self._with_block)
        if block and kept_bytes + len(block) <= KEPT_BYTES:
            self._first_block = block
            self._with_block.add(self)

    def _failed(self, error: Exception | None) -> ObjectError:
        """Note that the object cannot be read because of an error, or else that it changed."""
        if error and type(error).__name__ != EXPIRED:
            reason = f"cannot be read: {first_line(error)}"
        else:
            reason = "it changed while it was read; add it again"
        self._failure = self._failure or ObjectError(f"{self._path}: {reason}")
        return self._failure

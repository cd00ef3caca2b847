"""Comparison of the files of a lake with the digests in their names."""

import hashlib
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.faults import CHANGED, Fault
from ingest.store.lake.head import DIGITS, SUFFIX, LakeFile
from ingest.store.lake.place import REQUESTS, LakePlace
from ingest.store.lake.schema import RUNS


def is_intact(file: LakeFile, content: bytes) -> bool:
    """Return whether a file's content is as it was written."""
    digest = hashlib.sha256(content).hexdigest()[:DIGITS]
    return file.path.endswith(f"-{digest}{SUFFIX}")


def error_of(place: LakePlace, table: str, fault: Fault) -> StoreError:
    """Return the error about a damaged file of a table."""
    # The other files of a run can be written again, but `runs` says where its original files are.
    text = f"{fault.reason}; restore it" if table == RUNS else fault.text
    return StoreError(f"{place.url}: {text}")


def content_of(place: LakePlace, table: str, file: LakeFile) -> bytes:
    """Return the content of a file. Raise StoreError if it cannot be read, or is damaged."""
    content = place.content(table, file.path)
    if not is_intact(file, content):
        raise error_of(place, table, Fault(CHANGED, f"{table}/{file.path}"))
    return content


def intact_copies(place: LakePlace, table: str, files: Sequence[LakeFile], work: Path) -> list[str]:
    """Copy files of a table to the directory `work`, and return the paths of the copies.

    Raise StoreError if one is damaged: its rows may not get into a file with another digest.
    """

    def copy(file: LakeFile) -> str:
        target = work / f"{uuid.uuid4().hex}{SUFFIX}"
        target.write_bytes(content_of(place, table, file))
        return str(target)

    with ThreadPoolExecutor(REQUESTS) as pool:
        return list(pool.map(copy, files))

"""Detection of files with the same content, compressed or not, in a run."""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from ingest.errors import ProfileError
from ingest.formats import Source
from ingest.formats.io import blocks, is_compressed, start
from ingest.inputs.objects import sha256_of_object
from ingest.inputs.ranks import own_rank

COMPARED_FIRST = 64 << 10  # bytes; files of two ranks differ here, so that they are read only once

T = TypeVar("T")


def skip_copies(sources: list[Source]) -> None:
    """Mark all but one of the files with the same content as skipped. Keep a file over a link.

    If only the names of files have their ranks, files of different ranks are no copies.
    """
    profiles = sorted(
        (source for source in sources if source.is_profile),
        key=lambda source: source.path.is_symlink(),
    )
    _read_checksums(profiles)
    _skip_equal(profiles, {source.source_id: source.sha256 for source in profiles})
    by_head: dict[tuple[str, bytes], list[Source]] = defaultdict(list)
    for source in profiles:
        if source.is_profile and (head := _read(source, lambda file: start(file, COMPARED_FIRST))):
            by_head[source.kind, head].append(source)
    for group in by_head.values():
        if len(group) > 1 and any(_read(source, is_compressed) for source in group):
            _skip_equal(
                group, {source.source_id: _read(source, _sha256_of_content) for source in group}
            )


def _read_checksums(sources: list[Source]) -> None:
    """Read the checksums of those objects that begin with the same bytes."""
    by_start: dict[bytes, list[Source]] = defaultdict(list)
    for source in sources:
        if source.sha256 is None:
            with source.path.open("rb") as file:
                by_start[file.read(COMPARED_FIRST)].append(source)
    for group in by_start.values():
        for source in group if len(group) > 1 else []:
            source.sha256 = sha256_of_object(source.path)


def _skip_equal(sources: list[Source], checksums: dict[int, str | None]) -> None:
    first: dict[tuple[str, int | None], Source] = {}
    for source in sources:
        checksum = checksums[source.source_id]
        is_named = source.format is not None and source.format.name_ends_with_rank
        rank = own_rank(source) if is_named else None
        if checksum and (same := first.setdefault((checksum, rank), source)) is not source:
            source.status = "skipped"
            source.warn("same_content", f"the same content as {same.path.name}")


def _sha256_of_content(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    for block in blocks(file):
        digest.update(block)
    return digest.hexdigest()


def _read(source: Source, read: Callable[[BinaryIO], T]) -> T | None:
    """Return the result of `read` for the file, or None if it is damaged and so not a copy."""
    try:
        with source.path.open("rb") as file:
            return read(file)
    except (ProfileError, EOFError, OSError):
        return None

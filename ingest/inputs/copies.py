"""Files of a run with the same content, compressed or not: one of them counts."""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from ingest.errors import ProfileError
from ingest.formats import Source
from ingest.formats.io import blocks, is_compressed, start

COMPARED_FIRST = 64 << 10  # bytes: files of two ranks differ in them, and so are read once

T = TypeVar("T")


def skip_copies(sources: list[Source]) -> None:
    """Skips all but one of the files with the same content; a file goes before a link to it."""
    profiles = sorted(
        (source for source in sources if source.is_profile),
        key=lambda source: source.path.is_symlink(),
    )
    _skip_equal(profiles, {source.source_id: source.sha256 for source in profiles})
    alike: dict[tuple[str, bytes], list[Source]] = defaultdict(list)
    for source in profiles:
        if source.is_profile and (head := _read(source, lambda file: start(file, COMPARED_FIRST))):
            alike[source.kind, head].append(source)
    for group in alike.values():
        if len(group) > 1 and any(_read(source, is_compressed) for source in group):
            _skip_equal(group, {source.source_id: _read(source, _checksum) for source in group})


def _skip_equal(sources: list[Source], checksums: dict[int, str | None]) -> None:
    first: dict[str, Source] = {}
    for source in sources:
        checksum = checksums[source.source_id]
        if checksum and (same := first.setdefault(checksum, source)) is not source:
            source.status = "skipped"
            source.warn("same_content", f"the same content as {same.path.name}")


def _checksum(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    for block in blocks(file):
        digest.update(block)
    return digest.hexdigest()


def _read(source: Source, ask: Callable[[BinaryIO], T]) -> T | None:
    """What `ask` reads of the file; None where it is damaged, and so no copy of an intact one."""
    try:
        with source.path.open("rb") as file:
            return ask(file)
    except (ProfileError, EOFError, OSError):
        return None

"""A fixture that reads a snapshot with any content."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from ingest.errors import ProfileError
from ingest.formats.snapshot.reader import MemorySnapshot
from ingest.formats.stacks import Stacks

Read = Callable[[bytes], int]
Case = tuple[str, bytes]  # a pattern for the error, and a content


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """A function that returns the number of events that the reader finds in a content."""
    path = tmp_path / "s.pickle"

    def count(content: bytes) -> int:
        path.write_bytes(content)
        return sum(batch.num_rows for batch in MemorySnapshot(path, Stacks()).events())

    return count


def wrongly_read(read: Read, cases: Iterable[Case]) -> list[str]:
    """Return the cases whose content is read, or refused with an error of another pattern."""
    wrong = []
    for pattern, content in cases:
        try:
            count = read(content)
        except ProfileError as error:
            if not re.search(pattern, str(error)):
                wrong.append(f"{content[:60]!r}: {error}, not {pattern}")
        else:
            wrong.append(f"{content[:60]!r}: read, {count} events, not {pattern}")
    return wrong

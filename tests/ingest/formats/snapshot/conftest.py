"""A fixture that reads a snapshot with any content."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.formats.snapshot.reader import MemorySnapshot
from ingest.formats.snapshot.stacks import Stacks

Read = Callable[[bytes], int]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """A function that returns the number of events that the reader finds in a content."""
    path = tmp_path / "s.pickle"

    def count(content: bytes) -> int:
        path.write_bytes(content)
        return sum(batch.num_rows for batch in MemorySnapshot(path, Stacks()).events())

    return count

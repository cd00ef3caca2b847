"""A fixture that reads files without the tables that follow from them, which is much faster."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ingest.formats import Source, Staging
from ingest.inputs import read_run_input
from ingest.pipeline.build import prepare

Load = Callable[..., list[Source]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """A function that reads a file of each content: text, bytes, or JSON. It returns their sources.

    It checks that all events in the files are counted.
    """

    def loaded(*contents: Any) -> list[Source]:
        directory = tmp_path / f"load{len(list(tmp_path.iterdir()))}"
        directory.mkdir()
        for number, content in enumerate(contents):
            text = content if isinstance(content, str | bytes) else json.dumps(content)
            file = directory / f"{number:03}.json"
            file.write_bytes(text.encode() if isinstance(text, str) else text)
        sources = read_run_input(directory).sources
        assert len(sources) == len(contents)
        with duckdb.connect() as connection:
            prepare(connection)
            for source in sources:
                assert source.format
                source.format.load(source, Staging(connection), lambda _: None)
                counts = [source.complete or 0, *source.other.values(), *source.dropped.values()]
                assert source.events == sum(counts) or not source.has_events
        return sources

    return loaded

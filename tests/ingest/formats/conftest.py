"""Fixtures that read files without a store, which is much faster."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.conversion.scratch import open_scratch
from ingest.formats import Source, SourceWarning, Staging
from ingest.inputs import read_run_input
from tests.builders.relations import Relations, Run, built

Load = Callable[..., list[Source]]


class Ranks:
    """Files as the ranks of one run, whose relations are created in memory."""

    def __init__(self) -> None:
        self._relations: Relations | None = None

    def add(self, *contents: Any) -> list[Source]:
        """Read a file of each content: text, bytes, or JSON. Return the files by rank."""
        assert self._relations is None
        files = {f"t_rank{rank}.json": content for rank, content in enumerate(contents)}
        self._relations = built(Run(files))
        sources = sorted(self._relations.sources, key=lambda source: source.rank or 0)
        assert [source.rank for source in sources] == list(range(len(contents)))
        by_id = {source.source_id: source for source in sources}
        query = "SELECT source_id, warning_codes, warnings FROM sources"  # SQL finds some of them
        for source_id, codes, messages in self._relations.sql(query).fetchall():
            by_id[source_id].coded_warnings = list(map(SourceWarning, codes, messages))
        return sources

    def rows(self, query: str) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each rank. The first column of the query is the rank."""
        assert self._relations
        return self._relations.by_rank(query)


@pytest.fixture
def ranks() -> Ranks:
    """A helper that reads files as the ranks of one run."""
    return Ranks()


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
        with open_scratch(directory.with_name(f"{directory.name}.scratch")) as connection:
            staging = Staging(connection, sources)
            for source in list(sources):
                assert source.format
                source.format.load(source, staging, lambda _: None)
                counts = [source.complete or 0, *source.other.values(), *source.dropped.values()]
                assert source.events == sum(counts) or not source.has_events
        return sources

    return loaded

"""A fixture that reads a run directory without building its tables, which is much faster."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from ingest.formats import Source, Staging
from ingest.inputs import read_run_input, stage_ranks
from ingest.pipeline.build import prepare

ReadRun = Callable[[Path], list[Source]]


@pytest.fixture
def read_run() -> ReadRun:
    """A function that reads the files of a run, and assigns their ranks and cycles."""

    def read(directory: Path) -> list[Source]:
        sources = read_run_input(directory).sources
        with duckdb.connect() as connection:
            prepare(connection)
            for source in sources:
                if source.format and source.is_profile:
                    source.format.load(source, Staging(connection), lambda _: None)
            stage_ranks(connection, sources)
        return sources

    return read

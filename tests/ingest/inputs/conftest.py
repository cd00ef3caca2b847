"""A fixture that reads a run directory without building its tables, which is much faster."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.conversion.scratch import open_scratch
from ingest.formats import Source, Staging
from ingest.inputs import read_run_input, stage_ranks

ReadRun = Callable[[Path], list[Source]]


@pytest.fixture
def read_run(tmp_path_factory: pytest.TempPathFactory) -> ReadRun:
    """A function that reads the files of a run, and assigns their ranks and cycles."""

    def read(directory: Path) -> list[Source]:
        sources = read_run_input(directory).sources
        scratch = tmp_path_factory.mktemp("scratch") / "run.scratch"
        with open_scratch(scratch) as connection:
            staging = Staging(connection, sources)
            for source in list(sources):
                if source.format and source.is_profile:
                    source.format.load(source, staging, lambda _: None)
            stage_ranks(connection, sources)
        return sources

    return read

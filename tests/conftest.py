"""What the tests stand on: the samples, and a store that holds them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Browser, sync_playwright

import ingest

REPOSITORY = Path(__file__).parent.parent
SYSTEM_CHROMIUM = Path("/usr/bin/chromium")
NOT_A_TRACE = {"memory_timeline.raw.json.gz"}


Event = dict[str, Any]


class Traces:
    """Small traces built in a test, ingested one run each into a store of their own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.store = ingest.Store(directory / "store")

    def write(self, events: list[Event] | str, name: str = "trace", **metadata: object) -> Path:
        """A file of these events (or of this text), with `metadata` beside them."""
        path = self.directory / f"{name}.json"
        text = (
            events if isinstance(events, str) else json.dumps({**metadata, "traceEvents": events})
        )
        path.write_text(text, encoding="utf-8")
        return path

    def add(
        self, events: list[Event] | str, name: str = "trace", **metadata: object
    ) -> duckdb.DuckDBPyConnection:
        """A connection to the store after the events were added as a run."""
        self.store.add(self.write(events, name, **metadata))
        return ingest.connect(self.store.path)


@pytest.fixture
def traces(tmp_path: Path) -> Traces:
    """A place to build small traces and look at them as tables."""
    return Traces(tmp_path)


@pytest.fixture(scope="session")
def samples() -> Path:
    """The directory of real profiler output; tests that need it are skipped where it is absent."""
    directory = Path(os.environ.get("TRACE_SAMPLES") or REPOSITORY.parent / "shared" / "samples")
    if not directory.is_dir():
        pytest.skip(f"no sample traces: TRACE_SAMPLES or {directory}")
    return directory


@pytest.fixture(scope="session")
def sample_store(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with each file of `samples/traces` as a run of its name."""
    store = ingest.Store(tmp_path_factory.mktemp("samples") / "store")
    for path in sorted((samples / "traces").rglob("*.json.gz")):
        if path.name not in NOT_A_TRACE:
            store.add(path)
    return store.path


@pytest.fixture
def store_of_samples(sample_store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the store of the samples."""
    with ingest.connect(sample_store) as connection:
        yield connection


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium where there is one, else playwright's own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=SYSTEM_CHROMIUM if SYSTEM_CHROMIUM.exists() else None,
            args=[
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
            ],
        )
        yield browser
        browser.close()

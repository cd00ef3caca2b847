"""Consoles on an empty store."""

from pathlib import Path

import pytest

import ingest
from ingest import Console

MIB = 1 << 20
ENDLESS = "SELECT count(*) FROM range(1000000000000)"
PATIENCE = 600  # seconds, which no query takes, even on a loaded machine


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store."""
    return ingest.Store(tmp_path_factory.mktemp("console") / "store").path


@pytest.fixture(scope="module")
def console(store: Path) -> Console:
    """A console on the empty store."""
    return Console(store)


@pytest.fixture(scope="module")
def hasty(store: Path) -> Console:
    """A console with a time limit of one second."""
    return Console(store, seconds=1)


@pytest.fixture(scope="module")
def poor(store: Path) -> Console:
    """A console with a small memory limit, and enough time to exceed it."""
    return Console(store, seconds=PATIENCE, memory=128 * MIB)


def answers(console: Console) -> bool:
    """Return whether the console still answers queries, however long that takes."""
    limit, console.seconds = console.seconds, PATIENCE
    try:
        return console.query("SELECT 42 AS n").table.to_pydict() == {"n": [42]}
    finally:
        console.seconds = limit

"""Consoles on an empty store."""

from pathlib import Path

import pytest

import ingest
from ingest import Console

MIB = 1 << 20
ENDLESS = "SELECT count(*) FROM range(1000000000000)"
PATIENCE = 60  # seconds, on a machine that has much else to do


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store."""
    return ingest.Store(tmp_path_factory.mktemp("console") / "store").path


@pytest.fixture(scope="module")
def console(store: Path) -> Console:
    """A console on it."""
    return Console(store)


@pytest.fixture(scope="module")
def hasty(store: Path) -> Console:
    """One whose queries may take a second."""
    return Console(store, seconds=1)


@pytest.fixture(scope="module")
def poor(store: Path) -> Console:
    """One whose queries have little memory, and time enough to need more."""
    return Console(store, seconds=PATIENCE, memory=128 * MIB)


def lives(console: Console) -> bool:
    return console.query("SELECT 42 AS n").table.to_pydict() == {"n": [42]}

"""Sandboxes on an empty store."""

from pathlib import Path

import pytest

import ingest
from ingest.sandbox import Sandbox

MIB = 1 << 20
ENDLESS = "SELECT count(*) FROM range(1000000000000)"
PATIENCE = 600  # seconds, which no query takes, even on a loaded machine


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store."""
    return ingest.Store(tmp_path_factory.mktemp("sandbox") / "store").path


@pytest.fixture(scope="module")
def sandbox(store: Path) -> Sandbox:
    """A sandbox on the empty store."""
    return Sandbox(store)


@pytest.fixture(scope="module")
def hasty(store: Path) -> Sandbox:
    """A sandbox with a time limit of one second."""
    return Sandbox(store, seconds=1)


@pytest.fixture(scope="module")
def poor(store: Path) -> Sandbox:
    """A sandbox with a small memory limit, and enough time to exceed it."""
    return Sandbox(store, seconds=PATIENCE, memory=128 * MIB)


def answers(sandbox: Sandbox) -> bool:
    """Return whether the sandbox still answers queries, however long that takes."""
    limit, sandbox.seconds = sandbox.seconds, PATIENCE
    try:
        return sandbox.query("SELECT 42 AS n").table.to_pydict() == {"n": [42]}
    finally:
        sandbox.seconds = limit

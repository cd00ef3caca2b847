"""A store of memory snapshots, and snapshots built in a test."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.snapshots import snapshot
from tests.helpers.samples import Samples

TRACES = ("h100_owlv2", "v100_resnet50_workers0", "memory_timeline.raw", "cpu_only")


@pytest.fixture(scope="session")
def memory_store(sampled: Samples) -> Path:
    """A store of the sample snapshots, each as a run of its name, three traces and a timeline."""
    return sampled.store(*sampled.names("snapshots"), *TRACES)


@pytest.fixture
def add_snapshot(store: ingest.Store, tmp_path: Path) -> Callable[..., Path]:
    """A function that adds a snapshot of actions as the run `built`, and returns its store."""

    def add(*devices: list[dict[str, Any]], **more: Any) -> Path:
        path = tmp_path / "built.pickle"
        path.write_bytes(pickle.dumps(snapshot(*devices, **more), protocol=4))
        store.add(path)
        return store.path

    return add

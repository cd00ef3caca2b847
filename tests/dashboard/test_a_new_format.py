"""Pages on runs of an input format that a test adds: ranking, idle time, timelines, comparison."""

from collections.abc import Callable
from typing import Any

import pytest

import ingest
from ingest.formats import FORMATS
from tests.builders.kernel_csv import CSV, KERNEL_CSV
from tests.dashboard.elements import boxes, frames, lanes, table_with, texts

FASTER = CSV.replace("100,400", "100,250")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ingest.Store:
    """A store with two runs of the format: in `faster`, a kernel takes 250 instead of 400 ns."""
    directory = tmp_path_factory.mktemp("new_format")
    store = ingest.Store(directory / "store")
    for name, text in (("first", CSV), ("faster", FASTER)):
        (directory / f"{name}.csv").write_text(text)
        store.add(directory / f"{name}.csv", formats=(*FORMATS, KERNEL_CSV))
    return store


def test_the_ranking_has_the_kernels(opened: Callable[..., Any], store: ingest.Store) -> None:
    page = opened(store.path, "operators", run=store.find("first"), level="kernel")
    rows = table_with(page, "percent")[["name", "device_ns", "calls"]].values.tolist()
    assert sorted(rows) == [["bubble", 400, 2], ["gemm", 400, 1], ["relu", 200, 1]]


def test_the_gap_has_its_cause(opened: Callable[..., Any], store: ingest.Store) -> None:
    page = opened(store.path, "bubbles", run=store.find("first"))
    causes = table_with(page, "cause")[["cause", "idle_ns", "bubbles"]].values.tolist()
    assert causes == [["host", 300, 1]]


def test_the_timeline_shows_the_run(opened: Callable[..., Any], store: ingest.Store) -> None:
    run = store.find("first")
    page = opened(store.path, "timeline", run=run)
    assert frames(page) == [f"/perfetto/view?run={run}&rank=0#None"]
    assert "1.00 µs from 0 µs to 1.00 µs of 1.00 µs" in texts(page)


def test_two_runs_can_be_compared(opened: Callable[..., Any], store: ingest.Store) -> None:
    page = opened(store.path, "compare", base=store.find("first"), other=store.find("faster"))
    assert "All 2 rows: 0.600 µs → 0.450 µs (-0.150 µs)." in texts(page)
    drawn = [
        boxes(chart)[["lane", "name", "start", "end"]].values.tolist() for chart in lanes(page)
    ]
    relu = ["stream 8", "relu", 800, 1000]
    assert drawn == [
        [["stream 7", "gemm", 100, 500], relu],
        [["stream 7", "gemm", 100, 350], relu],
    ]

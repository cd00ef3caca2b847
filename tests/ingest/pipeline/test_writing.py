"""Tables as Parquet: the same rows, whatever the way they are written."""

import shutil
from pathlib import Path

import pytest

import ingest
from ingest.pipeline import parquet
from tests.samples import TWO_RANKS, Samples

ROWS = "SELECT * EXCLUDE (run_id) FROM events ORDER BY event_id"


def test_events_written_slice_by_slice_are_the_same(
    sampled: Samples, store: ingest.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for trace in sampled.files(TWO_RANKS):
        shutil.copy(trace, run)
    monkeypatch.setattr(parquet, "SLICE_ROWS", 1)  # or as few as share a range: those of a file
    store.add(run)

    at_once = ingest.connect(sampled.store(TWO_RANKS))
    expected, found = (each.sql(ROWS).fetchall() for each in (at_once, ingest.connect(store.path)))

    complete = at_once.sql("SELECT sum(complete_events) FROM sources").fetchall()
    assert [(len(expected),)] == complete
    assert found == expected

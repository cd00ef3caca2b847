"""Tables as Parquet: the same rows, whatever the way they are written."""

import shutil
from pathlib import Path

import pytest

import ingest
from ingest.pipeline import parquet

ROWS = "SELECT * EXCLUDE (run_id) FROM events ORDER BY event_id"


def test_events_written_slice_by_slice_are_the_same(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for trace in (samples / "traces").glob("two_rank_rank*.json.gz"):
        shutil.copy(trace, run)
    at_once, sliced = ingest.Store(tmp_path / "at once"), ingest.Store(tmp_path / "sliced")
    at_once.add(run)
    monkeypatch.setattr(parquet, "SLICE_ROWS", 1)  # or as few as share a range: those of a file
    sliced.add(run)

    expected, found = (
        ingest.connect(store.path).sql(ROWS).fetchall() for store in (at_once, sliced)
    )

    complete = ingest.connect(at_once.path).sql("SELECT sum(complete) FROM sources").fetchall()
    assert [(len(expected),)] == complete
    assert found == expected

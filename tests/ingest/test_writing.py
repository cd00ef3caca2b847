"""Tables as Parquet: the same rows, whatever the way they are written."""

from pathlib import Path

import pytest

import ingest
from ingest import writing

ROWS = "SELECT * EXCLUDE (run_id) FROM events ORDER BY event_id"


def test_events_written_slice_by_slice_are_the_same(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    trace = (samples / "traces" / "cpu_only.json.gz").read_bytes()
    for rank in range(3):
        (run / f"rank{rank}.json.gz").write_bytes(trace + bytes(rank))  # copies would be skipped
    at_once, sliced = ingest.Store(tmp_path / "at once"), ingest.Store(tmp_path / "sliced")
    at_once.add(run)
    monkeypatch.setattr(writing, "SLICE_ROWS", 1)  # or as few as share a range: those of a file
    sliced.add(run)

    expected, found = (
        ingest.connect(store.path).sql(ROWS).fetchall() for store in (at_once, sliced)
    )

    assert len(expected) == 3 * 16
    assert found == expected

"""Input that is too large is refused in bounded time and memory."""

import gzip
import json
from pathlib import Path

import pytest

import ingest
from ingest.errors import ProfileError
from tests.builders.events import op
from tests.ingest.formats.conftest import Load

A, B = (json.dumps(op(name, i)) for i, name in enumerate("ab"))


@pytest.mark.parametrize("size", [17, 40])
def test_only_an_extremely_large_event_is_dropped(size: int, load: Load) -> None:
    long = json.dumps(op("long", args={"text": "x" * (size << 20)}))
    [source] = load(f'{{"traceEvents": [{A}, {long}, {B}], "traceName": "t"}}')
    assert (source.status, source.complete, source.other) == ("ok", 2, {})
    assert source.dropped == {"longer than 16 MiB": 1}
    assert source.metadata["traceName"] == "t"


def test_an_extremely_large_last_event_is_counted(load: Load) -> None:
    texts = ["x" * (17 << 20), [{"id": number, "text": '\\"]}' * 300} for number in range(20_000)]]
    events = (json.dumps(op("long", args={"values": text})) for text in texts)
    for source in load(*(f'{{"traceEvents": [{A}, {event}], "z": 1}}' for event in events)):
        assert (source.status, source.events, source.complete) == ("ok", 2, 1)
        assert source.dropped == {"longer than 16 MiB": 1}
        assert source.metadata["z"] == 1


def test_an_extremely_large_event_that_the_file_cuts_off_is_lost(load: Load) -> None:
    long = json.dumps(op("long", args={"text": "x" * (17 << 20)}))
    [source] = load(f'{{"traceEvents": [{A}, {long[:-20]}')
    assert (source.status, source.events, source.complete) == ("truncated", 1, 1)


def test_a_decompression_bomb_is_refused_and_other_files_kept(
    store: ingest.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    events = ", ".join([A] * 1000)
    bomb = run / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(f'{{"traceEvents": [{events}'.encode() + b" " * (65 << 20)))
    (run / "good.json").write_text(f"[{A}]")
    with pytest.raises(ProfileError, match="inflates to more than 200 times its size"):
        store.add(bomb)
    assert store.run_ids() == []
    bad, good = store.add(run).sources
    assert (bad.status, good.status, good.complete) == ("failed", "ok", 1)
    assert ingest.connect(store.path).sql("SELECT count(*) FROM events").fetchall() == [(1,)]
    monkeypatch.setenv("TRACEHOUSE_MAX_INFLATION", "2000")
    [allowed] = store.add(bomb).sources
    assert (allowed.status, allowed.complete) == ("truncated", 1000)

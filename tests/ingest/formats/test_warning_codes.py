"""Each warning of a file has a code, which programs can read instead of the message."""

import gzip
import json
from pathlib import Path

import ingest
from tests.ingest.formats.conftest import Load

EVENTS = [
    {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 10.0 * i, "dur": 5}
    for i in range(3)
]
TRACE = json.dumps({"traceEvents": EVENTS})


def test_files_of_a_directory_have_warning_codes(store: ingest.Store, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "a.json").write_text(TRACE)
    (run / "b.json").write_text(TRACE)
    (run / "broken.json").write_text("{")
    (run / "cut.json.gz").write_bytes(gzip.compress(TRACE.replace("op", "add").encode())[:-12])
    (run / "notes.txt").write_text("notes")
    (run / "out.json").symlink_to(Path(__file__))
    store.add(run)
    rows = (
        ingest.connect(store.path)
        .sql("SELECT parse_filename(path), status, warning_codes, warnings FROM sources")
        .fetchall()
    )
    found = {name: (status, codes) for name, status, codes, _ in rows}
    assert found == {
        "a.json": ("ok", ["rank_assumed"]),
        "b.json": ("skipped", ["same_content"]),
        "broken.json": ("failed", ["unreadable"]),
        "cut.json.gz": ("truncated", ["truncated", "rank_assumed"]),
        "notes.txt": ("skipped", ["not_a_profile"]),
        "out.json": ("skipped", ["link_not_followed"]),
    }
    assert all(len(codes) == len(warnings) for _, _, codes, warnings in rows)


def test_sources_have_codes_and_messages(load: Load) -> None:
    [source] = load(json.dumps({"traceEvents": [*EVENTS, {**EVENTS[0], "dur": -1}]}) + "rest")
    row = source.as_dict()
    assert list(zip(row["warning_codes"], row["warnings"], strict=True)) == [
        ("bytes_after_end", "4 bytes after the end of the trace were not read"),
        (
            "events_not_complete",
            "1 event kept in other_events only: complete event with a negative dur",
        ),
    ]


def test_memory_events_have_warning_codes(store: ingest.Store, tmp_path: Path) -> None:
    action = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1}
    noted = {"Device Type": 1, "Device Id": 0, "Bytes": 64}
    path = tmp_path / "trace.json"
    events = [{**action, "tid": 1, "ts": 10.0 * i, "args": noted} for i in range(2)]
    path.write_text(json.dumps({"traceEvents": [*EVENTS, *events]}))
    [source] = store.add(path).sources
    assert source.warning_codes == ["memory_without_addresses", "memory_without_totals"]

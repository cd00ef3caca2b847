"""Run directories: the files that are read, and their ranks."""

import gzip
import json
import os
import socket
from pathlib import Path

import pytest

import ingest
from ingest.errors import ProfileError
from tests.builders.events import op
from tests.builders.relations import built
from tests.ingest.inputs.conftest import ReadRun

A, B = (json.dumps(op(name, i)) for i, name in enumerate("ab"))
BASE = 1_700_000_000_000_000_000


def test_links_out_of_a_run_directory_and_special_files_are_not_read(
    read_run: ReadRun, store: ingest.Store, tmp_path: Path
) -> None:
    run, outside = tmp_path / "run", tmp_path / "outside.json"
    run.mkdir()
    outside.write_text(f"[{A}]")
    (run / "a.json").write_text(f"[{B}]")
    (run / "b-link-inside.json").symlink_to("a.json")
    (run / "c-link-out.json").symlink_to(outside)
    (run / "d-link-nowhere.json").symlink_to("missing.json")
    os.mkfifo(run / "e-pipe.json")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(run / "f-socket"))
    sources = read_run(run)
    assert [(s.path.name[0], s.status) for s in sources] == [
        *zip("abcdef", ("ok", *["skipped"] * 2, "failed", "skipped", "skipped"), strict=True)
    ]
    assert sources[1].warnings == ["the same content as a.json"]
    assert sources[2].warnings == ["a link out of the run directory, not followed"]
    assert sources[4].warnings == sources[5].warnings == ["not a regular file"]
    assert read_run(run / "c-link-out.json")[0].complete == 1  # the user named this file
    with pytest.raises(ProfileError, match="not a regular file"):
        store.add(run / "e-pipe.json")


def test_inconsistent_ranks_have_warnings(read_run: ReadRun, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name, rank, metadata in (
        ("a", 0, {"baseTimeNanoseconds": BASE}),
        ("b", 0, {"baseTimeNanoseconds": BASE}),
        ("c", 3, {"baseTimeNanoseconds": BASE + 10**15}),
        ("d", None, {}),
    ):
        info = {"world_size": 8} | ({} if rank is None else {"rank": rank})
        trace = {**metadata, "distributedInfo": info, "traceEvents": [op(name)]}
        (run / f"{name}.json").write_text(json.dumps(trace))
    sources = read_run(run)
    other_clock = (
        "was recorded an hour or more before or after all other files of the run: "
        "its clock may be wrong"
    )
    assert [(s.rank, s.complete, s.warnings) for s in sources] == [
        (
            0,
            1,
            [
                "rank 0 has 2 files",
                "files are missing for ranks: 2, 4, 5, 6, 7 (the run has 8 ranks)",
            ],
        ),
        (0, 1, ["rank 0 has 2 files"]),
        (3, 1, [other_clock]),
        (
            1,
            1,
            [
                "does not record its rank: rank 1 is assumed",
                "does not record the Unix time of its zero, unlike other files of the run: its "
                "times may not match theirs",
                other_clock,
            ],
        ),
    ]


def test_traces_without_intact_content_fail(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "x_rank0.json").write_text(f"[{A}]")
    (run / "config.json").write_text('{"lr": 1}')
    (run / "notes.txt").write_text("")
    (run / "run.json").write_text("{}")
    bad = {
        "x_rank1.json.gz": (b"", "empty file"),
        "x_rank2.json.gz": (
            gzip.compress(B.encode(), mtime=0)[:30],
            "the compressed stream ends after 30",
        ),
        "x_rank3.pt.trace.json": (
            b'{"schemaVersion": 1, "dev',
            "not valid JSON: Unterminated",
        ),
        "x_rank4.json": (b"<html>404", "neither a JSON object nor an array"),
        "rank5.json": (b"", "empty file"),
    }
    for name, (content, _) in bad.items():
        (run / name).write_bytes(content)
    found = built(run)
    sources = {source.path.name: source for source in found.sources}
    for name, (_, reason) in bad.items():
        assert sources[name].status == "failed"
        assert sources[name].warnings[0].startswith(f"{run / name}: {reason}")
    assert sources["config.json"].warnings == sources["notes.txt"].warnings == ["not a profile"]
    overview = found.sql("SELECT sources, problems, events FROM run_overview")
    assert overview.fetchall() == [(1, 5, 1)]


def test_a_trace_without_a_readable_event_keeps_its_rank(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name, rank, events in (("a", 0, [op("a")]), ("b", 3, [{}, 5])):
        trace = {"distributedInfo": {"rank": rank, "world_size": 4}, "traceEvents": events}
        (run / f"{name}.json").write_text(json.dumps(trace))
    found = built(run, "sources", "runs")
    assert found.sql("SELECT rank, status FROM sources ORDER BY rank").fetchall() == [
        (0, "ok"),
        (3, "failed"),
    ]
    assert "rank_assumed" not in {code for each in found.sources for code in each.warning_codes}
    assert found.sql("SELECT world_size FROM runs").fetchall() == [(4,)]


def test_ranks_have_descriptions_next_to_run_json(store: ingest.Store, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    description = {"device_name": "GPU", "token": "hf_" + "a1" * 12}
    (run / "x-rank1.trace.json").write_text(f"[{A}]")
    (run / "rank1.json").write_text(json.dumps(description))
    (run / "rank2.json").write_text("[]")  # a trace, by its content
    (run / "run.json").write_text("{}")
    [of_rank, trace, *_] = store.add(run).sources
    assert (of_rank.kind, of_rank.status, of_rank.warnings) == ("run_json", "ok", [])
    assert (trace.kind, trace.rank) == ("kineto", 2)
    [(meta,)] = ingest.connect(store.path).sql("SELECT metadata FROM sources LIMIT 1").fetchall()
    assert json.loads(meta) == {"device_name": "GPU", "token": "[redacted]"}


def test_files_with_the_same_content_are_read_once(store: ingest.Store, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "a-link.json").symlink_to("b.json")
    (run / "b.json").write_text(f"[{A}]")
    (run / "c_rank3.json").write_text(f"[{A}]")
    sources = store.add(run).sources
    assert [(source.status, source.warnings) for source in sources] == [
        ("skipped", ["the same content as b.json"]),
        ("ok", []),
        ("skipped", ["the same content as b.json"]),
    ]
    overview = ingest.connect(store.path).sql("SELECT sources, ranks, events FROM run_overview")
    assert overview.fetchall() == [(1, 1, 1)]


def test_cycles_of_one_process_have_one_rank(
    samples: Path, store: ingest.Store, tmp_path: Path
) -> None:
    first, second = store.add(samples / "malformed" / "partial_second_cycle").sources
    assert first.rank == second.rank == 0
    assert first.warnings == second.warnings == []
    run = tmp_path / "run"
    run.mkdir()
    for process in (7, 8):
        for cycle in (1, 2, 3):
            name = f"host_{process}.{cycle}000000000000.pt.trace.json"
            (run / name).write_text(f"[{json.dumps(op(f'{process}', 100 * cycle))}]")
    sources = store.add(run).sources
    assert [source.rank for source in sources] == [0, 0, 0, 1, 1, 1]
    assert not any("clock" in str(source.warnings) for source in sources)
    worlds = ingest.connect(store.path).sql("SELECT world_size FROM runs ORDER BY ALL")
    assert worlds.fetchall() == [(1,), (2,)]


def test_ranks_come_from_content_then_name_then_position(tmp_path: Path) -> None:
    event = '{"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}'
    directory = tmp_path / "ranks"
    directory.mkdir()
    for name, rank in (("a.json", 5), ("b_rank-3.json", None), ("c.json", None), ("d.json", None)):
        info = f'"distributedInfo": {{"rank": {rank}}}, ' if rank is not None else ""
        (directory / name).write_text(f'{{{info}"traceEvents": [{event}], "n": "{name}"}}')
    found = built(directory)
    rows = found.sql("SELECT rank FROM sources ORDER BY source_id").fetchall()
    assert rows == [(5,), (3,), (2,), (0,)]
    assert found.sql("SELECT count(DISTINCT event_id) FROM events").fetchall() == [(4,)]
    warnings = found.sql("SELECT warnings FROM sources ORDER BY source_id")
    expected = [
        ["files are missing for ranks: 1, 4 (the run has 6 ranks)"],
        [],
        ["does not record its rank: rank 2 is assumed"],
        ["does not record its rank: rank 0 is assumed"],
    ]
    assert [row for (row,) in warnings.fetchall()] == expected

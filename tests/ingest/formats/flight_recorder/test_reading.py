"""Dumps of the flight recorder of all versions, as files of a run."""

import gzip
import json
from pathlib import Path

import pytest

import ingest
from ingest.formats import FORMATS, recognise
from tests.builders.events import op
from tests.builders.flight_recorder import (  # fmt: skip
    CLOCK_NS,
    DEFAULT,
    VERSIONS,
    as_json,
    call,
    dump,
    job,
    pickled,
)
from tests.builders.relations import Run, built
from tests.builders.snapshots import snapshot

CALLS = [call(line=5), call("broadcast", 2, "started"), call("barrier", 3, "scheduled")]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_is_read(version: str) -> None:
    found = built(job({0: CALLS}, version))
    is_first = version == "1.1"
    assert found.sql(
        "SELECT record_id, process_group, group_description, collective_seq, p2p_seq, op_seq, "
        "kind, profiling_name, backend, is_p2p, peer_rank FROM flight_records ORDER BY record_id"
    ).fetchall() == [
        (i, "0", None if is_first else "default_pg", i + 1, None, None if is_first else i + 1, kind,
         f"nccl:{kind}", "nccl", False, None)
        for i, kind in enumerate(["all_reduce", "broadcast", "barrier"])
    ]  # fmt: skip
    assert found.sql(
        "SELECT input_sizes, output_sizes, input_dtypes, output_dtypes, timeout_ns, thread_name, "
        "caller_frame FROM flight_records WHERE record_id = 0"
    ).fetchall() == [
        (
            [[8, 8]],
            [[8, 8]],
            *([None] * 3 if is_first else [["Float"], ["Float"], 600_000_000_000]),
            "python" if version == "2.10" else None,
            "train.py:5 step",
        )
    ]
    assert found.sql(
        "SELECT created_ns - $clock, started_ns - $clock, completed_ns - $clock, state, is_done, "
        "is_timed_out FROM flight_records ORDER BY record_id".replace("$clock", str(CLOCK_NS))
    ).fetchall() == [
        (1_000_000, 1_001_000, 1_005_000, "completed", True, False),
        (2_000_000, 2_001_000, None, "started", False, False),
        (3_000_000, None, None, "scheduled", False, False),
    ]
    assert found.sql("SELECT version, library_version FROM flight_dumps").fetchall() == [
        (version, {"2.7": "2.26.2", "2.10": "2.27.5"}.get(version))
    ]
    assert found.sql("SELECT kind, rank, events, status, warnings FROM sources").fetchall() == [
        ("flight_recorder", 0, 3, "ok", [])
    ]


def test_groups_have_their_ranks_and_last_calls() -> None:
    found = built(job({0: CALLS, 2: CALLS[:1]}, size=3))
    assert found.sql(
        "SELECT rank, process_group, group_description, pg_number, member_ranks, last_enqueued, "
        "last_started, last_completed FROM flight_groups ORDER BY rank"
    ).fetchall() == [
        (0, "0", "default_pg", 0, [0, 1, 2], 3, 3, None),
        (2, "0", "default_pg", 0, [0, 1, 2], 1, 1, None),
    ]
    [first, _] = found.sources
    assert first.warnings == ["files are missing for ranks: 1 (the run has 3 ranks)"]
    assert found.sql("SELECT world_size FROM runs").fetchall() == [(3,)]


def test_zeros_of_json_are_unknown() -> None:
    calls = [call(seq=2, state="scheduled", duration_ms=0.25), call(seq=3, timeout_ms=0)]
    found = built(Run({"dump_rank_0.json": as_json(dump(calls, groups={DEFAULT: [0, 1]}))}))
    assert found.sql(
        "SELECT started_ns, completed_ns, dur_ns, timeout_ns, caller_frame, stack_id "
        "FROM flight_records ORDER BY record_id"
    ).fetchall() == [
        (None, None, 250_000, 600_000_000_000, None, None),
        (CLOCK_NS + 3_001_000, CLOCK_NS + 3_005_000, None, None, None, None),
    ]
    assert found.sql("SELECT member_ranks, last_enqueued FROM flight_groups").fetchall() == [
        ([0, 1], 3)
    ]


@pytest.mark.parametrize("encoded", [pickled, as_json])
def test_a_dump_without_calls_is_read(encoded: object) -> None:
    content = encoded(dump([], groups={DEFAULT: [0, 1]}))  # type: ignore[operator]
    found = built(Run({"a_rank_0": content, "a_rank_1": content}))
    assert found.sql(
        "SELECT rank, records, last_ns FROM flight_dumps ORDER BY rank"
    ).fetchall() == [
        (0, 0, None),
        (1, 0, None),
    ]
    assert found.sql(
        "SELECT rank, missing_reason FROM flight_positions ORDER BY rank"
    ).fetchall() == [
        (0, None),
        (1, None),
    ]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("comm_lib_trace_rank_3", 3),
        ("nccl_trace_rank_12", 12),
        ("dump_7", 7),
        ("job42dump7", 7),
        ("dump_7.json", 7),
        ("dump_7.pickle.gz", 7),
        ("rank5_attempt_2", 5),
    ],
)
def test_the_rank_is_in_the_name(name: str, rank: int) -> None:
    content = pickled(dump(CALLS))
    packed = gzip.compress(content) if name.endswith(".gz") else content
    assert [source.rank for source in built(Run({name: packed})).sources] == [rank]


def test_dumps_join_the_traces_of_their_ranks(store: ingest.Store, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for rank in (0, 1):
        trace = {"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": [op("a")]}
        (run / f"host{1 - rank}.pt.trace.json").write_text(json.dumps(trace))
        (run / f"comm_lib_trace_rank_{rank}").write_bytes(pickled(dump(CALLS[: rank + 1])))
    store.add(run)
    assert ingest.connect(store.path).sql(
        "SELECT rank, list(kind ORDER BY kind) FROM sources GROUP BY rank ORDER BY rank"
    ).fetchall() == [(0, ["flight_recorder", "kineto"]), (1, ["flight_recorder", "kineto"])]
    assert ingest.connect(store.path).sql(
        "SELECT records.rank, count(*) FROM flight_records AS records "
        "INNER JOIN ops USING (run_id, rank) GROUP BY ALL ORDER BY ALL"
    ).fetchall() == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (pickled(dump(CALLS)), "flight_recorder"),
        (pickled(dump(CALLS, "1.1")), "flight_recorder"),
        (as_json(dump(CALLS)), "flight_recorder"),
        (as_json(dump([])), "flight_recorder"),
        (json.dumps(dump(CALLS, "2.4"), indent=1).encode(), "flight_recorder"),
        (pickled(snapshot()), "memory_snapshot"),
        (pickled({"version": "2.10", "segments": []}), "memory_snapshot"),
        (b'{"version": 1, "traceEvents": []}', "kineto"),
        (b'{"version": "2.10", "name": "pg_configured"}', None),
    ],
)
def test_content_decides_the_format(content: bytes, kind: str | None, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    found, _ = recognise(tmp_path / "file", FORMATS)
    assert (found and found.kind) == kind


def test_unknown_fields_and_newer_versions_are_warnings() -> None:
    """Version 2.11 is newer than 2.10, and 2.9 is not."""

    def warnings(version: str | None, **more: object) -> list[str]:
        found = dump([call(**more)]) | {"version": version}  # type: ignore[arg-type]
        return built(Run({"dump_rank_0": pickled(found)})).sources[0].warnings

    assert warnings("2.9") == []
    assert warnings("2.11") == ["version 2.11 is newer than 2.10: new fields are not read"]
    assert warnings(None) == ["the dump does not record its version"]
    assert warnings("2.10", colour="red") == [
        "collectives have keys that are not read: colour (1 value)"
    ]

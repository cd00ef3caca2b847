"""Traces of captures of CUDA graphs: in a directory of the run, or named by the user."""

import json
from pathlib import Path

import pytest

import ingest
from ingest.errors import ProfileError, StoreError
from ingest.inputs import run_directories
from tests.builders.cuda_graphs import capture, replay
from tests.builders.events import Event, frame
from tests.helpers.command import Command

CAPTURE = [
    frame("nn.Module: Block_0", 1, 60),
    *capture([("aten::mm", "gemm"), ("aten::add", "add_kernel")]),
]
REPLAY = replay([("gemm", 7), ("add_kernel", 7)])
EVENTS = {"trace.json": REPLAY, "captures.json": CAPTURE}
FILES = "SELECT parse_filename(path), kind, status, complete_events, warning_codes FROM sources"


def write(path: Path, events: list[Event], **metadata: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**metadata, "traceEvents": events}))
    return path


def attributed(store: ingest.Store) -> list[tuple[str, ...]]:
    return (
        ingest.connect(store.path)
        .sql(
            "SELECT graph_top_op, graph_evidence FROM kernels WHERE is_graph_launch "
            "ORDER BY start_ns"
        )
        .fetchall()
    )


KNOWN = [("aten::mm", "names"), ("aten::add", "names")]


@pytest.mark.parametrize("directory", ["capture_traces", "graph_capture_profile"])
def test_a_directory_of_captures_belongs_to_its_run(
    store: ingest.Store, tmp_path: Path, directory: str
) -> None:
    run = tmp_path / "run"
    write(run / "worker.123.pt.trace.json", REPLAY)
    write(run / directory / "bs_1_rank0.123.pt.trace.json", CAPTURE)
    (run / directory / "details.json").write_text('[{"file": "bs_1"}]')
    assert run_directories(run) == [run]
    store.add(run)
    connection = ingest.connect(store.path)
    assert attributed(store) == KNOWN
    assert sorted(connection.sql(FILES).fetchall()) == [
        ("bs_1_rank0.123.pt.trace.json", "graph_capture", "ok", 0, []),
        ("details.json", "other", "skipped", None, ["not_a_profile"]),
        ("worker.123.pt.trace.json", "kineto", "ok", 3, []),
    ]
    # The events of the capture are not those of the run, but its modules have device time.
    assert connection.sql("SELECT count(*) FROM events").fetchall() == [(3,)]
    modules = connection.sql("SELECT module, calls, device_ns FROM module_ranking").fetchall()
    assert modules == [("Block_0", 0, 16_000)]


def test_a_named_trace_of_captures_is_read_again_by_a_rebuild(
    store: ingest.Store, tmp_path: Path
) -> None:
    trace = write(tmp_path / "trace.json", REPLAY)
    captures = write(tmp_path / "elsewhere" / "captures.json", CAPTURE)
    options = ingest.AddOptions(capture_traces=[str(captures)])
    run_id = store.add(trace, options).run_id
    assert attributed(store) == KNOWN
    store.rebuild(run_id)
    assert attributed(store) == KNOWN
    assert not store.add(trace, options).is_new
    assert store.add(trace).is_new  # without its captures, it is another run
    both = [write(tmp_path / "both" / name, events) for name, events in EVENTS.items()]
    assert store.add(both[0].parent).is_new  # and with them as traces of its own


def test_a_rebuild_reads_captures_that_came_later(store: ingest.Store, tmp_path: Path) -> None:
    run = tmp_path / "run"
    write(run / "trace.json", REPLAY)
    run_id = store.add(run).run_id
    write(run / "capture_traces" / "bs_1.json", CAPTURE)
    store.rebuild(run_id)
    assert attributed(store) == KNOWN
    write(run / "more.json", CAPTURE)
    with pytest.raises(StoreError, match="have changed"):
        store.rebuild(run_id)


def test_the_option_may_be_repeated_and_paths_can_be_redacted(
    command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    trace = write(tmp_path / "trace.json", REPLAY)
    captures = [
        write(tmp_path / "secret" / f"{number}.json", CAPTURE if number else REPLAY)
        for number in range(2)
    ]
    options = [each for file in captures for each in ("--capture-trace", file)]
    result = command("add", trace, *options, "--redact-paths", store=store.path)
    assert result.code == 0, result.err
    assert attributed(store) == KNOWN
    (run_id,) = store.run_ids()
    assert "secret" not in (store.run_path(run_id) / "manifest.json").read_text()
    sources = ingest.connect(store.path).sql("SELECT path FROM sources ORDER BY path").fetchall()
    assert sources == [("0.json",), ("1.json",), ("trace.json",)]


def test_a_trace_of_captures_that_explains_nothing_has_a_warning(
    store: ingest.Store, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    write(run / "trace.json", REPLAY)
    directory = run / "capture_traces"
    write(directory / "none.json", REPLAY)
    write(directory / "other.json", capture([("aten::mul", "mul_kernel")] * 2))
    (directory / "cut.json").write_text('{"traceEvents": [{"ph": "X", "cat"')
    (directory / "notes.txt").write_text("notes")
    store.add(run)
    assert attributed(store) == [(None, None)] * 2
    found = ingest.connect(store.path).sql(FILES).fetchall()
    assert {name: (status, codes) for name, _, status, _, codes in found} == {
        "trace.json": ("ok", []),
        "none.json": ("ok", ["no_captures"]),
        "other.json": ("ok", ["captures_unmatched"]),
        "cut.json": ("failed", ["unreadable"]),
        "notes.txt": ("skipped", ["not_a_profile"]),
    }


def test_a_file_that_is_no_trace_is_an_error_if_it_is_named(
    command: Command, tmp_path: Path
) -> None:
    trace = write(tmp_path / "trace.json", REPLAY)
    notes = tmp_path / "notes.txt"
    notes.write_text("notes")
    for file in (notes, tmp_path / "missing.json"):
        result = command("add", trace, "--capture-trace", file)
        assert result.code == 1
        assert str(file) in result.err


def test_captures_alone_are_a_run_if_they_are_named(store: ingest.Store, tmp_path: Path) -> None:
    write(tmp_path / "run" / "capture_traces" / "rank0.pt.trace.json", CAPTURE)
    with pytest.raises(ProfileError, match="no profile in this directory"):
        store.add(tmp_path / "run")
    store.add(tmp_path / "run" / "capture_traces")
    events = ingest.connect(store.path).sql("SELECT count(*) FROM events").fetchall()
    assert events == [(len(CAPTURE),)]


def test_captures_of_rank_0_explain_other_ranks(store: ingest.Store, tmp_path: Path) -> None:
    for rank in range(2):
        write(tmp_path / "run" / f"t{rank}.json", REPLAY, distributedInfo={"rank": rank})
    write(tmp_path / "run" / "capture_traces" / "graph_capture_rank_0.json", CAPTURE)
    store.add(tmp_path / "run")
    assert attributed(store) == [KNOWN[0]] * 2 + [KNOWN[1]] * 2


def test_captures_beside_no_run_are_runs_of_their_own(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write(logs / "run1" / "w.1.pt.trace.json", REPLAY)
    write(logs / "capture_traces" / "bs.1.pt.trace.json", CAPTURE)
    assert run_directories(logs) == [logs / "capture_traces", logs / "run1"]
    write(logs / "trace.json", REPLAY)
    assert run_directories(logs) == [logs, logs / "run1"]


def test_captures_of_an_unknown_rank_help_a_rank_with_captures_of_its_own(
    store: ingest.Store, tmp_path: Path
) -> None:
    other = capture([("aten::mul", "mul_kernel")])
    trace = write(tmp_path / "trace.json", [*other, *REPLAY])
    captures = write(tmp_path / "captures.json", CAPTURE)
    store.add(trace, ingest.AddOptions(capture_traces=[str(captures)]))
    assert attributed(store) == KNOWN


def test_files_below_captures_are_listed_and_links_are_followed(
    store: ingest.Store, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    write(run / "trace.json", REPLAY)
    write(run / "caps" / "bs.json", CAPTURE)
    write(run / "caps" / "deep" / "other.json", CAPTURE)
    (run / "capture_traces").symlink_to("caps")
    store.add(run)
    assert attributed(store) == KNOWN
    found = ingest.connect(store.path).sql(FILES).fetchall()
    assert {(name, kind, *codes) for name, kind, _, _, codes in found} >= {
        ("bs.json", "graph_capture"),
        ("other.json", "other", "in_directory_below"),
    }


def test_captures_of_several_ranks_in_a_file_explain_each_rank(
    store: ingest.Store, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    for rank in range(2):
        write(run / f"t{rank}.json", REPLAY, distributedInfo={"rank": rank})
    for number in range(2):
        events = []
        for rank in range(2):
            launches = [(f"aten::{name}_{rank}", name) for name in ("gemm", "add_kernel")]
            recorded = capture(launches if number else [("aten::mul", "mul_kernel")])
            events += [{**event, "pid": 1000 + rank} for event in recorded]
            label = {"ph": "M", "name": "process_labels", "pid": 1000 + rank, "ts": 0}
            events.append({**label, "tid": 0, "args": {"labels": f"rank {rank}"}})
        write(run / "capture_traces" / f"{number}.json", events)
    store.add(run)
    connection = ingest.connect(store.path)
    found = connection.sql(
        "SELECT rank, list(graph_top_op ORDER BY start_ns) FROM kernels GROUP BY rank"
    )
    assert sorted(found.fetchall()) == [
        (rank, [f"aten::gemm_{rank}", f"aten::add_kernel_{rank}"]) for rank in range(2)
    ]
    (ids,) = connection.sql(
        "SELECT count(*) = count(DISTINCT recorded_id) FROM graph_nodes"
    ).fetchall()
    assert ids == (True,)

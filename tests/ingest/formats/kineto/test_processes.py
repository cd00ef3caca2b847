"""Traces of several processes: merged ranks, and exports of several ranks."""

import json
from pathlib import Path

import pytest

import ingest
from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import Relations, built
from tests.conftest import Traces
from tests.helpers.command import Command

LINKS = "SELECT rank, device, name, op, dur_ns FROM kernels ORDER BY rank, name"
EXPECTED = [(0, 0, "gemm", "aten::mm", 50_000), (1, 0, "sum", "aten::add", 70_000)]
LABELS = {
    "sglang": ["[TP00] {}", "[TP01] {}"],
    "rank in brackets": ["[rank0] {}", "[rank1] {}"],
    "innermost group": ["[TP00-DP00] {}", "[TP01-DP00] {}"],
    "word": ["rank 0: {}", "rank 1: {}"],
}


def work(name: str, kernel_name: str, dur_us: float) -> list[Event]:
    """Return an operator, its launch and its kernel. Both ranks use the same numbers."""
    return [
        op(name, 1000, 20, pid=100, args={"External id": 1}),
        host("cudaLaunchKernel", "cuda_runtime", 1005, 5, {"External id": 1, "correlation": 1})
        | {"pid": 100},
        kernel(kernel_name, 1030, dur_us, correlation=1) | {"args": {"correlation": 1}},
    ]


RANKS = [work("aten::mm", "gemm", 50), work("aten::add", "sum", 70)]


def merged(labels: list[str]) -> list[Event]:
    """Return the events of both ranks, with a rank's label in each process id."""
    return [
        event | {"pid": label.format(event["pid"])}
        for label, events in zip(labels, RANKS, strict=True)
        for event in events
    ]


def named(kind: str, labels: list[str]) -> list[Event]:
    """Return the events of both ranks with their own process ids, and names of the processes."""
    key = {"process_name": "name", "process_labels": "labels"}[kind]
    return [
        each
        for rank, (label, events) in enumerate(zip(labels, RANKS, strict=True))
        for event in events
        for pid in [1000 * rank + event["pid"]]
        for each in (
            {"ph": "M", "name": kind, "pid": pid, "args": {key: label}},
            event | {"pid": pid},
        )
    ]


def labels_of(found: Relations) -> list[str | None]:
    return [source.process for source in found.sources]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_numbers_count_within_a_process(labels: list[str]) -> None:
    found = built(merged(labels), distributedInfo={"rank": 1, "world_size": 2})
    rows = found.sql("SELECT * EXCLUDE (device) FROM (" + LINKS + ")").fetchall()
    assert rows == [(rank, *row) for rank, _, *row in EXPECTED]
    metadata = [source.metadata["distributedInfo"] for source in found.sources]
    assert metadata == [{"rank": rank, "world_size": 2} for rank in (0, 1)]
    assert [source.events for source in found.sources] == [3, 3]
    assert not any(source.warnings for source in found.sources)


def test_the_ids_of_devices_come_without_the_label() -> None:
    found = built(merged(LABELS["sglang"]))
    assert found.sql(LINKS).fetchall() == EXPECTED
    assert labels_of(found) == ["TP00", "TP01"]


@pytest.mark.parametrize("kind", ["process_name", "process_labels"])
def test_names_of_processes_tell_the_rank(kind: str) -> None:
    found = built(named(kind, ["python (rank 3)", "rank 12"]))
    rows = found.sql("SELECT rank, name, op FROM kernels ORDER BY rank").fetchall()
    assert rows == [(3, "gemm", "aten::mm"), (12, "sum", "aten::add")]


def test_labels_that_repeat_a_number_give_ranks_in_natural_order() -> None:
    found = built(merged(["[TP00-PP10] {}", "[TP00-PP2] {}"]))
    assert labels_of(found) == ["TP00-PP2", "TP00-PP10"]
    assert found.sql("SELECT rank, name FROM kernels ORDER BY rank").fetchall() == [
        (0, "sum"),
        (1, "gemm"),
    ]
    assert {code for source in found.sources for code in source.warning_codes} == {"rank_assumed"}


def test_one_label_is_the_rank_of_the_file() -> None:
    found = built(merged(["[TP05] {}", "[TP05] {}"])[:3])
    assert [(source.rank, source.process) for source in found.sources] == [(5, None)]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("[rank3]: python", 3),
        ("torchrun --node_rank 1 --rank 3", 3),
        ("ray::train_lora_rank=16", 0),
        ("x_low_rank_64", 0),
        ("rank 1 of rank 3", 0),
        ("[ubuntu22] python", 0),
        ("python lowrank32 rank16-lora.py", 0),
    ],
)
def test_only_a_name_that_states_one_rank_tells_it(name: str, rank: int) -> None:
    event = {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": name}}
    found = built([event, op("aten::mm")], distributedInfo={"world_size": 8})
    assert [source.rank for source in found.sources] == [rank]
    assert found.sources[0].metadata["distributedInfo"]["world_size"] == 8


def test_processes_without_activities_are_no_sources() -> None:
    names = [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": f"rank {pid}"}}
        for pid in range(4)
    ]
    found = built([*names, op("aten::mm", pid=2), op("aten::add", pid=3)])
    assert [(source.rank, source.complete) for source in found.sources] == [(2, 1), (3, 1)]


def test_open_frames_end_with_callers_of_their_own_process() -> None:
    """Python ids are numbers within a process, too."""

    def called(name: str, ts: float, dur: float, python_id: int, caller: int, pid: int) -> Event:
        args = {"Python id": python_id, "Python parent id": caller}
        return host(name, "python_function", ts, dur, args) | {"pid": pid}

    events = [
        each
        for pid, end in ((1, 900), (2, 200))
        for each in (
            called("main", 0, 1000, 1, 0, pid),
            called("step", 100, end - 100, 2, 1, pid),
            called("open", 110, 890, 3, 2, pid),
        )
    ]
    rows = built(events).sql("SELECT pid, dur_ns FROM events WHERE name = 'open' ORDER BY pid")
    assert rows.fetchall() == [("1", 790_000), ("2", 90_000)]


def test_a_rank_on_another_clock_keeps_its_times() -> None:
    early = [op(f"op{number}", number, 1, pid="[TP00] 1") for number in range(300)]
    late = [op(name, 1e11 + at, 1, pid="[TP01] 1") for at, name in enumerate(("a", "b"))]
    found = built([*early, *late])
    assert [source.complete for source in found.sources] == [300, 2]


def test_without_labels_an_ambiguous_launch_is_unknown() -> None:
    events = named("process_name", ["python", "python"])
    arrow = {"cat": "ac2g", "name": "ac2g", "id": 1}
    arrows = [
        {"ph": phase, **arrow, **{key: event[key] for key in ("pid", "tid", "ts")}}
        for event in events
        for phase, category in (("s", "cuda_runtime"), ("f", "kernel"))
        if event.get("cat") == category
    ]
    found = built([*events, *arrows])
    assert found.sql("SELECT name, op, link, launch_id FROM kernels ORDER BY name").fetchall() == [
        ("gemm", None, None, None),
        ("sum", None, None, None),
    ]
    unlabelled = merged(["[TP00] {}", "{}"])
    assert labels_of(built(unlabelled)) == [None]


def test_a_merged_file_is_added_once_and_upgraded(store: ingest.Store, tmp_path: Path) -> None:
    path = tmp_path / "merged.json"
    path.write_text(json.dumps({"traceEvents": merged(LABELS["sglang"])}))
    added = store.add(path)
    assert not store.add(path).is_new
    with ingest.connect(store.path) as connection:
        rows = connection.sql("SELECT source_id, rank, bytes FROM sources ORDER BY ALL").fetchall()
    assert rows == [(0, 0, path.stat().st_size), (1, 1, None)]
    (store.run_path(added.run_id) / "manifest.json").unlink()  # as in early versions
    assert not store.add(path).is_new


def test_odd_ids_of_several_ranks_survive_an_export(
    store: ingest.Store, tmp_path: Path, command: Command
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for rank in (0, 1):
        events = [
            op("aten::mm", 0, 10, pid=None, tid="009"),
            op("aten::add", 0, 10, pid="007", tid="a\nb"),
            op("aten::mul", 20, 10, pid="a\nb"),
            {"ph": "i", "name": "i", "pid": 1, "tid": 1, "ts": 1, "s": "t"},
        ]
        distributed = {"rank": rank, "world_size": 8}
        trace = {"traceEvents": events, "record_shapes": 1, "distributedInfo": distributed}
        (run / f"rank{rank}.json").write_text(json.dumps(trace))
    exported = tmp_path / "exported.json"
    first = store.add(run).run_id
    assert command("export", first, "--chrome", exported).code == 0
    second = store.add(exported).run_id
    with ingest.connect(store.path) as connection:
        for table, columns in (
            ("events", "rank, name, pid, tid, dur_ns, args"),
            ("other_events", "rank, name, pid, tid, id"),
            (
                "sources",
                "rank, json_extract(metadata, ['record_shapes', '$.distributedInfo.world_size'])",
            ),
        ):
            query = f"SELECT {columns} FROM {table} WHERE run_id = $1"
            if table == "other_events":
                query += " AND category IS DISTINCT FROM 'tracehouse'"
            rows = [
                connection.execute(f"{query} ORDER BY ALL", [run_id]).fetchall()
                for run_id in (first, second)
            ]
            assert rows[0] == rows[1], table


@pytest.fixture(scope="module")
def sides(shared_traces: Traces) -> Path:
    """A store of the runs `alpha` and `zeta`, with the name of the run in the names of kernels."""
    for name in ("alpha", "zeta"):
        run = shared_traces.directory / name
        run.mkdir()
        for rank, events in enumerate(RANKS):
            step = host("ProfilerStep#0", "user_annotation", 990, 200) | {"pid": 100}
            renamed = [
                each | {"name": f"{each['name']} of {name}"} if each["cat"] == "kernel" else each
                for each in events
            ]
            trace = {"traceEvents": [step, *renamed], "distributedInfo": {"rank": rank}}
            (run / f"rank{rank}.json").write_text(json.dumps(trace))
        shared_traces.store.add(run)
    return shared_traces.store.path


@pytest.mark.parametrize("second", ["alpha", "zeta"], ids=["two runs", "one run twice"])
def test_an_export_side_by_side_has_a_rank_for_each_of_both_sides(
    second: str, sides: Path, tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "both.json"
    steps = ("zeta", "--step", "0", "--beside", second, "--beside-step", "0")
    assert command("export", *steps, "--chrome", path, store=sides).code == 0
    found = built(path)
    rows = found.sql(LINKS).fetchall()
    warnings = found.sql(
        "SELECT count(*) FROM sources WHERE 'rank_assumed' IN warning_codes"
    ).fetchall()
    of_sides = [(name, *expected) for name in ("zeta", second) for expected in EXPECTED]
    assert sorted(rows) == [
        (rank, device, f"{kernel_name} of {name}", op_name, dur_ns)
        for rank, (name, _, device, kernel_name, op_name, dur_ns) in enumerate(of_sides)
    ]
    assert warnings == [(4,)]

"""Chrome traces of parts of runs: their content, and that the exported events are unchanged."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest

import ingest
from tests.builders.collectives import loop, recorded, shifted
from tests.builders.events import Event, frame, host, kernel, op
from tests.builders.relations import Relations, built
from tests.conftest import Traces
from tests.helpers.command import Command
from tests.helpers.samples import TWO_RANKS, Samples

RUNS = (
    "alexnet_cuda_sync",
    "b200_gptoss",
    "cpu_only",
    "cupti_counters",
    "h100_qwen1.5-0.5b",
    "mi210_gpu_only",
    "mtia_inference",
    "two_rank_rank0",
)
RUNS_TO_CUT = (
    "alexnet_cuda_sync",
    "cpu_only",
    "h100_qwen1.5-0.5b",
    "mi210_gpu_only",
    "mi300_flux1_graph_replay",
    "mtia_inference",
)
RUN_WITH_STEPS = "v100_resnet50_workers0"
COLUMNS = (
    "rank, category, recorded_category, name, pid, tid, start_ns, dur_ns, correlation, "
    "external_id, args"
)
# Columns that depend on the events around an event are only equal in an export of a whole run.
ALL_COLUMNS = f"{COLUMNS}, depth, self_ns, step"
# The keys that the importer of chrome://tracing requires of an event, by its phase.
SCHEMA = {
    "type": "object",
    "required": ["traceEvents"],
    "properties": {
        "traceEvents": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["ph", "pid"],
                "properties": {
                    "ph": {"enum": list("XBEiCMstf")},
                    "ts": {"type": "number", "minimum": 0},
                    "dur": {"type": "number", "minimum": 0},
                    "pid": {"type": ["integer", "string"]},
                    "tid": {"type": ["integer", "string"]},
                    "name": {"type": "string"},
                },
                "allOf": [
                    {
                        "if": {"properties": {"ph": {"enum": phases}}},
                        "then": {"required": required},
                    }
                    for phases, required in (
                        (["X"], ["name", "ts", "dur", "tid"]),
                        (["B", "i"], ["name", "ts", "tid"]),
                        (["E"], ["ts", "tid"]),
                        (["s", "t", "f"], ["name", "cat", "id", "ts", "tid"]),
                        (["C"], ["name", "ts", "args"]),
                        (["M"], ["name", "args"]),
                    )
                ],
            },
        }
    },
}


@pytest.fixture(scope="module")
def exported_store(sampled: Samples) -> Path:
    return sampled.store(*{*RUNS, *RUNS_TO_CUT}, RUN_WITH_STEPS)


class Export:
    """The command `ingest export --chrome`. A call returns the events that it wrote to `file`."""

    def __init__(self, command: Command, file: Path) -> None:
        self.command = command
        self.file = file

    def __call__(self, run: str, *options: str, store: Path | None = None) -> list[Event]:
        done = self.command("export", run, "--chrome", self.file, *options, store=store)
        assert done.code == 0, done.err
        trace: dict[str, Any] = json.loads(self.file.read_text())
        return list(trace["traceEvents"])


@pytest.fixture
def default_store(request: pytest.FixtureRequest, store: ingest.Store) -> Path:
    """The store of `command`: the shared one in tests that use `small`."""
    if "small" not in request.fixturenames:
        return store.path
    shared: Traces = request.getfixturevalue("small")
    return shared.store.path


@pytest.fixture
def export(command: Command, tmp_path: Path) -> Export:
    return Export(command, tmp_path / "exported.json")


def differing(
    recorded: duckdb.DuckDBPyConnection,
    condition: str,
    parameters: list[object],
    again: Relations,
    run: str,
    columns: str = COLUMNS,
) -> int:
    """Return how many of the recorded events the file of a run in `again` lacks or has changed."""
    found = recorded.execute(f"SELECT {columns} FROM events WHERE {condition}", parameters)
    again.connection.register("recorded", found.to_arrow_table())
    [(missing,)] = again.sql(
        f"SELECT count(*) FROM (FROM recorded EXCEPT ALL SELECT {columns} {events_of(run)})"
    ).fetchall()
    return int(missing)


def events_of(run: str) -> str:
    """Return the end of a query of the events that were read from the file of a run."""
    return (
        f"FROM events JOIN sources USING (run_id, source_id, rank) WHERE path LIKE '%/{run}.json'"
    )


def forms(events: list[Event]) -> list[Event]:
    """Return an event of each form: its phase, keys, types of values, and signs of its times."""
    return list(
        {
            (
                *(e["ph"], e.get("ts", 0) < 0, e.get("dur", 0) < 0),
                *((key, type(value)) for key, value in e.items()),
            ): e
            for e in events
        }.values()
    )


def test_a_whole_run_is_the_same_when_it_is_read_again(
    exported_store: Path, command: Command, tmp_path: Path
) -> None:
    for run in RUNS:
        events = Export(command, tmp_path / f"{run}.json")(run, store=exported_store)
        jsonschema.Draft202012Validator(SCHEMA).validate({"traceEvents": forms(events)})
    again = built(tmp_path)
    with ingest.connect(exported_store) as recorded:
        for run in RUNS:
            run_id = ingest.Store(exported_store).find(run)
            whole = "run_id = $1"
            assert differing(recorded, whole, [run_id], again, run, ALL_COLUMNS) == 0, run
            count = "SELECT count(*) FROM events WHERE run_id = $1"
            expected = recorded.execute(count, [run_id]).fetchall()
            assert again.sql(f"SELECT count(*) {events_of(run)}").fetchall() == expected, run


def test_an_interval_contains_all_its_events(
    exported_store: Path, command: Command, tmp_path: Path
) -> None:
    intervals = {}
    with ingest.connect(exported_store) as recorded:
        for run in RUNS_TO_CUT:
            run_id = ingest.Store(exported_store).find(run)
            [(first, last)] = recorded.execute(
                "SELECT min(start_ns), max(start_ns + dur_ns) FROM events WHERE run_id = $1",
                [run_id],
            ).fetchall()
            since, until = first + (last - first) // 3, first + (last - first) // 2
            export = Export(command, tmp_path / f"{run}.json")
            export(run, "--from", str(since), "--to", str(until), store=exported_store)
            intervals[run] = [run_id, since, until]
        again = built(tmp_path)
        inside = "run_id = $1 AND start_ns < $3 AND start_ns + dur_ns > $2"
        # Kernels keep their launches, and kernels launched in the interval are included.
        launched = (
            "run_id = $1 AND event_id IN (SELECT unnest([event_id, launch_id]) FROM kernels WHERE "
            "run_id = $1 AND ((start_ns < $3 AND start_ns + dur_ns > $2) OR "
            "(launch_ns < $3 AND launch_ns + launch_dur_ns > $2)))"
        )
        for run, interval in intervals.items():
            assert differing(recorded, inside, interval, again, run) == 0, run
            assert differing(recorded, launched, interval, again, run) == 0, run


def test_every_arrow_has_its_events(exported_store: Path, export: Export) -> None:
    events = export(RUN_WITH_STEPS, "--step", "6", store=exported_store)
    starts = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    arrows = [e for e in events if e["ph"] in "sf" and e.get("cat") != "tracehouse"]
    assert arrows
    assert all((e["pid"], e["tid"], e["ts"]) in starts for e in arrows)
    ends = Counter(e["ph"] for e in arrows)
    on_device = sum(e["ph"] == "X" and "stream" in e.get("args", {}) for e in events)
    assert ends == {"s": on_device, "f": on_device}


def step(number: int, ts: float, dur: float) -> Event:
    """Return a step."""
    return host(f"ProfilerStep#{number}", "user_annotation", ts, dur)


def two_steps() -> list[Event]:
    """Return two steps. In each, an operator launches a kernel that outlasts the step."""
    events: list[Event] = [
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
        frame("main.py(1): main", 0, 300),
    ]
    for n in (0, 1):
        ts = 100 * n
        launch, run = ts + 20, ts + 90
        events += [
            step(n, ts, 100),
            op("aten::mm", ts + 10, 30),
            host("cudaLaunchKernel", "cuda_runtime", launch, 5, {"correlation": n + 1}),
            kernel("gemm", run, 40, correlation=n + 1, **{"est. achieved occupancy %": 50}),
            {"ph": "s", "id": n + 1, "pid": 1, "tid": 1, "ts": launch, "cat": "ac2g", "name": "a"},
            {
                "ph": "f",
                "id": n + 1,
                "pid": 0,
                "tid": 7,
                "ts": run,
                "cat": "ac2g",
                "name": "a",
                "bp": "e",
            },
        ]
    return events


@pytest.fixture(scope="module")
def small(shared_traces: Traces) -> Traces:
    """A store with these steps as run `trace`, and with a step 5 as run `other`.

    Tests share it and must not change it.
    """
    for name, events, base in (
        ("trace", two_steps(), 1_700_000_000_000_000_000),
        ("other", [op("aten::mm", 7_000), step(5, 6_999, 50)], 9_000_000),
    ):
        path = shared_traces.write(events, name, baseTimeNanoseconds=base)
        shared_traces.store.add(path)
    return shared_traces


def named(events: list[Event]) -> list[tuple[str, float, float]]:
    """Return the recorded events: names, and starts and durations in µs."""
    return sorted((e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X")


def own(events: list[Event], phase: str) -> list[Event]:
    """Return the events that the export has added."""
    return [e for e in events if e.get("cat") == "tracehouse" and e["ph"] == phase]


def test_a_step_includes_events_that_began_earlier(small: Traces, export: Export) -> None:
    assert named(export("trace", "--step", "1")) == [
        ("ProfilerStep#1", 100, 100),
        ("aten::mm", 10, 30),  # launches the first kernel, which runs into the step
        ("aten::mm", 110, 30),
        ("cudaLaunchKernel", 20, 5),
        ("cudaLaunchKernel", 120, 5),
        ("gemm", 90, 40),
        ("gemm", 190, 40),
        ("main.py(1): main", 0, 300),
    ]


def test_an_interval_includes_the_kernels_launched_in_it(small: Traces, export: Export) -> None:
    events = export("trace", "--from", "15us", "--to", "22us", "--min-dur", "6us")
    assert named(events) == [
        ("ProfilerStep#0", 0, 100),
        ("aten::mm", 10, 30),
        ("cudaLaunchKernel", 20, 5),  # short, but it launches the kernel
        ("gemm", 90, 40),
        ("main.py(1): main", 0, 300),
    ]
    assert [(e["ph"], e["ts"]) for e in events if e["ph"] in "sf"] == [("s", 20), ("f", 90)]


def test_steps_and_idle_time_are_tracks(small: Traces, export: Export) -> None:
    events = export("trace")
    tracks = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in own(events, "M")
        if e["name"] == "thread_name"
    }
    found = {
        phase: sorted(
            (tracks[e["pid"], e["tid"]], e["ts"], e.get("name"))
            for e in own(events, phase)
            if not tracks[e["pid"], e["tid"]].startswith("critical path")
        )
        for phase in "BE"
    }
    assert found == {
        "B": [
            ("idle time of device 0", 0, "host"),
            ("idle time of device 0", 130, "launch"),
            ("idle time of device 0", 230, "host"),
            ("steps", 0, "step 0"),
            ("steps", 100, "step 1"),
        ],
        "E": [
            *(("idle time of device 0", end, None) for end in (90, 190, 300)),
            *(("steps", end, None) for end in (100, 200)),
        ],
    }


def test_critical_paths_are_tracks_with_arrows(small: Traces, export: Export) -> None:
    events = export("trace")
    tracks = {
        e["tid"]: e["args"]["name"]
        for e in own(events, "M")
        if e["args"].get("name", "").startswith("critical path: ")
    }
    paths: dict[int, list[tuple[str, float, float]]] = {}
    for tid in tracks:
        begins, ends = ([e for e in own(events, phase) if e["tid"] == tid] for phase in "BE")
        for begin, end in zip(begins, ends, strict=True):
            interval = (begin["name"], begin["ts"], end["ts"])
            paths.setdefault(begin["args"]["step"], []).append(interval)
    assert {step: sorted(path, key=lambda each: each[1]) for step, path in paths.items()} == {
        0: [
            ("host", 0, 10),
            ("host", 10, 20),
            ("host", 20, 25),
            ("unexplained", 25, 90),
            ("compute", 90, 130),
        ],
        1: [("unexplained", 130, 190), ("compute", 190, 230)],
    }
    arrows = [
        (e["ph"], tracks[e["tid"]].removeprefix("critical path: "), e["ts"])
        for phase in "sf"
        for e in own(events, phase)
    ]
    assert arrows == [("s", "host", 24.999), ("f", "device 0, stream 7", 25)]


def test_an_export_has_counters_of_the_device(small: Traces, export: Export) -> None:
    counted: dict[str, list[tuple[float, float]]] = {}
    for event in own(export("trace"), "C"):
        [(quantity, value)] = event["args"].items()
        counted.setdefault(f"{event['name']} {quantity}", []).append((event["ts"], value))
    assert counted == {
        "device 0 activities running": [(90, 1), (130, 0), (190, 1), (230, 0)],
        "device 0, stream 7 launches in the queue": [(20, 1), (90, 0), (120, 1), (190, 0)],
        "device 0, stream 7 estimated occupancy, %": [(90, 50), (130, 0), (190, 50), (230, 0)],
    }


def test_process_names_include_their_labels(small: Traces, export: Export) -> None:
    names = [e["args"]["name"] for e in export("trace") if e.get("name") == "process_name"]
    assert names == ["steps, idle time and critical path", "python (GPU 0)"]


def test_an_export_can_be_exported_again(
    small: Traces, export: Export, store: ingest.Store
) -> None:
    first = export("trace")
    store.add(export.file)
    assert export("exported", store=store.path) == first


def test_the_ranks_of_a_run_are_on_one_clock(sampled: Samples, export: Export) -> None:
    store = sampled.store(TWO_RANKS)
    events = export(TWO_RANKS, store=store)
    with ingest.connect(store) as connection:
        recorded = connection.execute(
            "SELECT rank, name, (start_ns - min(start_ns) OVER ()) / 1000, dur_ns / 1000 "
            "FROM events"
        ).fetchall()
    ranks = {
        e["pid"] // 10_000_000 if isinstance(e["pid"], int) else int(e["pid"].split()[0]): None
        for e in events
    }
    assert set(ranks) == {0, 1}
    assert sorted((name, ts, dur) for _, name, ts, dur in recorded) == named(events)
    flows = [(e["ph"], e["id"]) for e in events if e["ph"] in "sf"]
    assert len(flows) == len(set(flows))
    only = export(TWO_RANKS, "--rank", "1", store=store)
    expected = sum(rank == 1 for rank, *_ in recorded)
    assert len(named(only)) == expected


def test_an_export_of_several_ranks_is_the_same_when_it_is_read_again(
    sampled: Samples, export: Export
) -> None:
    recorded_store = sampled.store(TWO_RANKS)
    export(TWO_RANKS, store=recorded_store)
    again = built(export.file)
    with ingest.connect(recorded_store) as recorded:
        rows = f"SELECT {ALL_COLUMNS} FROM events"
        links = "SELECT rank, start_ns, device, stream, op, link, launch_ns FROM kernels"
        for query in (rows, links):
            expected = recorded.sql(query).to_arrow_table()
            again.connection.register("expected", expected)
            assert len(expected) == len(again.sql(query))
            assert again.sql(f"FROM expected EXCEPT ALL ({query})").fetchall() == []


def test_any_number_of_ranks_is_in_order(
    store: ingest.Store, export: Export, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    order = {"ph": "M", "name": "process_sort_index", "pid": 1, "args": {"sort_index": 5}}
    for rank in range(5):
        events = [order, step(0, 100 + rank, 50)]
        trace = {"traceEvents": events, "distributedInfo": {"rank": rank}}
        (run / f"rank{rank}.json").write_text(json.dumps(trace))
    store.add(run)
    events = export("run")
    positions = {
        e["pid"]: e["args"]["sort_index"] for e in events if e.get("name") == "process_sort_index"
    }
    shown = [e for e in events if e["ph"] == "X"]
    by_position = sorted(shown, key=lambda event: positions[event["pid"]])
    assert [e["ts"] for e in by_position] == [0, 1, 2, 3, 4]
    with ingest.connect(store) as connection:
        pids = connection.sql("SELECT chrome_pid('7', 2), chrome_pid('7', 400)").fetchall()
    assert pids == [("20000007", "4000000007")]


def test_two_runs_start_their_steps_together(small: Traces, export: Export) -> None:
    events = export("trace", "--step", "1", "--beside", "other", "--beside-step", "5")
    steps = [e for e in named(events) if e[0].startswith("ProfilerStep")]
    assert steps == [("ProfilerStep#1", 100, 100), ("ProfilerStep#5", 100, 50)]
    names = {
        e["args"]["name"].partition("-")[0] for e in own(events, "M") if e["name"] == "process_name"
    }
    assert names == {"trace", "other"}


def test_a_compressed_file_and_the_standard_output(
    small: Traces, export: Export, command: Command, tmp_path: Path
) -> None:
    export("trace")
    file = tmp_path / "exported.json.gz"
    assert command("export", "trace", "--chrome", file).code == 0
    assert gzip.decompress(file.read_bytes()) == export.file.read_bytes()
    printed = command("export", "trace", "--chrome", "-")
    assert (printed.code, printed.out) == (0, export.file.read_text())


def test_an_interval_that_begins_in_a_gap_has_no_negative_times(
    small: Traces, export: Export
) -> None:
    events = export("trace", "--from", "150us", "--to", "195us", "--min-dur", "35us")
    jsonschema.Draft202012Validator(SCHEMA).validate({"traceEvents": events})


def test_two_steps_of_one_run_start_together(small: Traces, export: Export) -> None:
    events = export("trace", "--step", "0", "--beside", "trace", "--beside-step", "1")
    tracks = {e["pid"]: e["args"]["name"] for e in own(events, "M") if e["name"] == "process_name"}
    assert list(tracks.values()) == [
        "step 0: steps, idle time and critical path",
        "step 1: steps, idle time and critical path",
    ]
    found = {(e["name"], e["pid"]): e["ts"] for e in own(events, "B")}
    steps = [found[f"step {step}", pid] for step, pid in enumerate(tracks)]
    assert steps[0] == steps[1]


def test_arrows_within_events_and_with_odd_ids_are_kept(traces: Traces, export: Export) -> None:
    shared = {"pid": 1, "tid": -5, "cat": "own", "name": "a"}
    arrows = [
        {"ph": phase, "ts": ts, "id": name, **shared}
        for name in ("0x1f", "1.4", str(2**63 - 1))
        for phase, ts in (("s", 3), ("f", 8))
    ]
    traces.add([op("aten::mm", 0, 10, tid=-5), *arrows])
    events = export("trace")
    assert [e for e in events if e["ph"] in "sf"] == arrows
    assert {e["tid"] for e in events if e["ph"] == "X"} == {-5}


def test_a_rank_without_the_step_is_left_out_unless_requested(
    store: ingest.Store, export: Export, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for rank, steps in enumerate(([0, 1, 2], [0, 1])):
        events = [step(n, 100 * n, 90) for n in steps]
        trace = {"traceEvents": events, "distributedInfo": {"rank": rank, "world_size": 2}}
        (run / f"rank{rank}.json").write_text(json.dumps(trace))
    store.add(run)
    assert len(named(export("run", "--step", "2"))) == 1
    done = export.command("export", "run", "--chrome", "-", "--step", "2", "--rank", "1")
    assert "rank 1 has no step 2; its steps are 0 to 1" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--step", "9"], "rank 0 has no step 9; its steps are 0 to 1"),
        (["--rank", "4"], "no trace of rank 4; there are traces of 0"),
        (["--from", "1000s"], "there are no events in this time interval"),
        (["--from", "5"], "'5' is not a time with a unit"),
        (["--min-dur", "fast"], "'fast' is not a time with a unit"),
        (["--from", "20us", "--to", "10us"], "--from must be before --to"),
        (["--step", "1", "--from", "10us"], "--step cannot be used with --from or --to"),
        (["--beside", "trace"], "--beside requires --step"),
        (["--beside-step", "1"], "--beside-step requires --beside"),
        (
            ["--metric", "host"],
            "--metric does not apply to --chrome, only to --stacks and --speedscope",
        ),
    ],
)
def test_invalid_options_are_errors(
    options: list[str], message: str, small: Traces, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "none.json"
    done = command("export", "trace", "--chrome", file, *options)
    assert done.code in (1, 2)
    assert message in " ".join(done.err.replace("│", " ").split())
    assert not file.exists()


def test_a_run_without_a_trace_is_an_error(
    sampled: Samples, command: Command, tmp_path: Path
) -> None:
    store = sampled.store("state_only")
    done = command("export", "state_only", "--chrome", tmp_path / "none.json", store=store)
    assert done.code == 1
    assert "the run has no trace" in done.err


def strict(text: str) -> Any:
    """Parse JSON without NaN and Infinity, which Python accepts."""

    def refuse(constant: str) -> None:
        raise ValueError(f"not JSON: {constant}")

    return json.loads(text, parse_constant=refuse)


def test_numbers_that_json_lacks_are_null(command: Command, traces: Traces) -> None:
    nan, inf = float("nan"), float("inf")
    copies = [
        kernel(
            "Memcpy HtoD", 10 + at, 20, "gpu_memcpy", 0, 7 + at, **{"memory bandwidth (GB/s)": x}
        )
        for at, x in enumerate((1e308, 1e308, inf, nan))
    ]
    counter = op("mine", 12, ph="C", args={"value": -inf})
    file = traces.write([*copies, counter], "odd", more={"x": nan}, deviceProperties=[{"id": inf}])
    file.write_text(file.read_text().replace('"x": NaN', '"x": 1e999'))
    traces.store.add(file)
    exported = strict(command("export", "odd", "--chrome", "-").out)
    assert (exported["more"], exported["deviceProperties"]) == ({"x": None}, [{"id": None}])
    events = exported["traceEvents"]
    values = [each["args"]["GB/s"] for each in events if "GB/s" in each.get("args", {})]
    assert values == [1e308, None, None, 0]  # their sum is infinite
    assert [each["args"] for each in events if each.get("name") == "mine"] == [{"value": None}]


def test_times_of_several_ranks_are_on_the_reference_clock(
    store: ingest.Store, export: Export, tmp_path: Path
) -> None:
    """Rank 1's clock is 350 µs ahead. What all ranks end together is drawn at the same time."""
    clocks = {0: shifted(0), 1: shifted(350)}
    calls = loop(2, 20, lambda rank, number: 300 + 100 * rank, jitter_us=0.5)
    for number, each in enumerate(calls):
        each.seq = number
    directory = tmp_path / "apart"
    directory.mkdir()
    run = recorded(calls, clocks, hosts={0: "node0", 1: "node1"})
    for name, content in run.files.items():
        (directory / name).write_text(json.dumps(content))
    run_id = store.add(directory).run_id
    kernels = [e for e in export(run_id, store=store.path) if "nccl" in str(e.get("name"))]
    ends = {
        rank: sorted(e["ts"] + e["dur"] for e in kernels if e["pid"] // 10_000_000 == rank)
        for rank in (0, 1)
    }
    assert ends[0] == pytest.approx(ends[1], abs=2)
    processes = json.dumps(json.loads(export.file.read_text()), ensure_ascii=False)
    assert re.search(r"rank 1, moved by -350 µs ± \d+ ns: steps", processes)
    alone = export(run_id, "--rank", "1", store=store.path)
    assert "moved by" not in export.file.read_text()
    first = min(e["ts"] for e in alone if "nccl" in str(e.get("name")))
    base_ns = json.loads(export.file.read_text())["baseTimeNanoseconds"]
    [(recorded_ns,)] = (
        ingest.connect(store.path)
        .sql("SELECT min(start_ns) FROM collectives WHERE rank = 1")
        .fetchall()
    )
    assert base_ns + 1000 * first == pytest.approx(recorded_ns, abs=10)

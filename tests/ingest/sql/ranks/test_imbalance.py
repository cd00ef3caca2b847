"""How unevenly ranks are loaded, on small runs, and on a real one compared with plain Python."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import ingest
from tests.builders.events import Event, frame, host, kernel, op
from tests.builders.relations import Input, Run, built, ranks
from tests.helpers.samples import TWO_RANKS, Samples

STEP = 1000.0  # length of a step, µs
TIMES = "name, ranks, max_rank, mean_ns, min_ns, median_ns, max_ns, excess_ns"


def loaded(kernels: dict[str, float], steps: int = 2, first: int = 5) -> list[Event]:
    """Return steps that each launch these kernels, with their durations: `operator kernel`."""
    events = []
    for number in range(steps):
        start = number * STEP
        events.append(host(f"ProfilerStep#{first + number}", "user_annotation", start, STEP))
        for place, (name, dur) in enumerate(kernels.items()):
            called, launched = name.split()
            at, key = start + 10 * place + 1, 100 * number + place + 1
            events += [
                op(called, at, 8),
                host("cudaLaunchKernel", "cuda_runtime", at + 1, 2, {"correlation": key}),
                kernel(launched, start + 100 * place + 50, dur, correlation=key),
            ]
    return events


def rows(run: Input, level: str, columns: str = TIMES) -> list[tuple[Any, ...]]:
    """Return columns of a level, by name."""
    query = f"SELECT {columns} FROM imbalance WHERE level = '{level}' ORDER BY name"
    return built(run).sql(query).fetchall()


def test_ranks_are_compared_by_their_mean_step() -> None:
    run = ranks(
        [
            loaded({"aten::mm gemm": 10, "aten::add add": 5}),
            loaded({"aten::mm gemm": 10, "aten::add add": 5}, steps=3),
            loaded({"aten::mm gemm": 40, "aten::add add": 5}),
        ]
    )
    assert rows(run, "op") == [
        ("aten::add", 3, 0, 5_000, 5_000, 5_000, 5_000, 0),  # all equal: the lowest rank
        ("aten::mm", 3, 2, 20_000, 10_000, 10_000, 40_000, 30_000),
    ]
    assert rows(run, "kernel", "name, max_rank, excess_ns, imbalance_percent") == [
        ("add", 0, 0, 0),
        ("gemm", 2, 30_000, 100),
    ]


def test_of_several_ranks_with_the_most_the_lowest_is_named() -> None:
    run = ranks([loaded({"aten::mm gemm": dur}) for dur in (10, 30, 20, 30)])
    assert rows(run, "op", "name, max_rank, excess_ns") == [("aten::mm", 1, 5_000)]


def test_an_operator_that_a_rank_lacks_takes_no_time_there() -> None:
    usual = {"aten::mm gemm": 10.0}
    run = ranks([loaded(usual), loaded(usual | {"aten::sort sort": 90}), loaded(usual)])
    assert rows(run, "op") == [
        ("aten::mm", 3, 0, 10_000, 10_000, 10_000, 10_000, 0),
        ("aten::sort", 1, 1, 30_000, 0, 0, 90_000, 90_000),
    ]


def test_communication_does_not_count_because_it_contains_waiting() -> None:
    run = ranks([loaded({"c10d::allreduce_ ncclDevKernel_AllReduce": dur}) for dur in (10, 90)])
    assert rows(run, "op") == rows(run, "kernel") == []


def test_a_run_of_one_rank_has_no_rows() -> None:
    assert rows(loaded({"aten::mm gemm": 10}), "op") == []


def in_modules(names: list[str], durs: list[float]) -> list[Event]:
    """Return a step with a module inside `Model_0` for each name, which launches a kernel."""
    events = [
        host("ProfilerStep#1", "user_annotation", 0, STEP),
        frame("nn.Module: Model_0", 1, STEP - 2),
    ]
    for place, (name, dur) in enumerate(zip(names, durs, strict=True)):
        start = 100 * place + 10
        events += [
            frame(f"nn.Module: {name}", start, 50),
            op("aten::mm", start + 1, 40),
            host("cudaLaunchKernel", "cuda_runtime", start + 2, 2, {"correlation": place + 1}),
            kernel("gemm", start + 20, dur, correlation=place + 1),
        ]
    return events


def test_modules_are_matched_by_their_classes() -> None:
    """Rank 1 called another `Linear` before, so torch gave other numbers to its modules."""
    first = in_modules(["Linear_0", "Linear_1", "Norm_0"], [10, 10, 5])
    other = in_modules(["Linear_1", "Linear_2", "Norm_0"], [10, 30, 5])
    assert rows(ranks([first, other]), "module") == [
        ("Model", 2, 1, 35_000, 25_000, 35_000, 45_000, 10_000),
        ("Model/Linear", 2, 1, 30_000, 20_000, 30_000, 40_000, 10_000),
        ("Model/Norm", 2, 0, 5_000, 5_000, 5_000, 5_000, 0),
    ]


def test_without_a_device_the_own_time_of_host_operators_counts() -> None:
    def called(dur: float) -> list[Event]:
        step = host("ProfilerStep#1", "user_annotation", 0, STEP)
        module = frame("nn.Module: Model_0", 1, STEP - 2)
        outer, inner = op("aten::linear", 10, dur + 20), op("aten::mm", 20, dur)
        return [step, module, outer, inner, op("c10d::allreduce_", 500, 400 - dur)]

    run = ranks([called(100), called(300)])
    assert rows(run, "op", "name, measure, max_rank, min_ns, max_ns") == [
        ("aten::linear", "host", 0, 20_000, 20_000),
        ("aten::mm", "host", 1, 100_000, 300_000),
    ]
    assert rows(run, "module", "name, measure, max_rank, excess_ns") == [
        ("Model", "host", 1, 100_000)
    ]


def test_peaks_of_memory_are_compared() -> None:
    def allocating(device: int, *sizes: int) -> list[Event]:
        where = {"Device Type": 1, "Device Id": device, "Total Reserved": 4096}
        changes = [
            {"Addr": place, "Bytes": size, "Total Allocated": sum(sizes[: place + 1]), **where}
            for place, size in enumerate(sizes)
        ]
        return [
            op("aten::empty", 1, 100),
            *(
                {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2 + place, "args": args}
                for place, args in enumerate(changes)
            ),
        ]

    run = ranks([allocating(0, 100, 100), allocating(1, 100, 200), allocating(2, 600, -100)])
    columns = "name, ranks, max_rank, mean_bytes, min_bytes, median_bytes, max_bytes, excess_bytes"
    assert rows(run, "memory", f"{columns}, imbalance_percent, mean_ns, excess_ns") == [
        ("cuda", 3, 2, 1100 / 3, 200, 300, 600, 300, 100 * (600 / (1100 / 3) - 1), None, None)
    ]


def staged(rank: int, kernels: dict[str, float], groups: list[tuple[str, list[int]]]) -> Any:
    """Return the trace of a rank whose process groups are known."""
    config = [
        {"pg_name": str(place), "pg_desc": name, "pg_size": len(members), "ranks": members}
        for place, (name, members) in enumerate(groups)
    ]
    return {
        "distributedInfo": {"rank": rank, "world_size": 4, "pg_config": config},
        "traceEvents": loaded(kernels),
    }


def test_the_work_of_a_pipelines_stage_is_compared_among_its_ranks() -> None:
    """Ranks 0 and 1 are the first stage, 2 and 3 the second one."""
    groups = [("default_pg", [0, 1, 2, 3]), ("mesh_pp", [0, 2]), ("mesh_pp", [1, 3])]
    work: list[dict[str, float]] = [
        {"aten::embedding gather": 10},
        {"aten::embedding gather": 30},
        {"aten::softmax softmax": 20},
        {"aten::softmax softmax": 20},
    ]
    traces = {
        f"rank{rank}.json": staged(rank, kernels, groups) for rank, kernels in enumerate(work)
    }
    run = built(Run(traces))
    assert run.sql("FROM rank_peers ORDER BY rank").fetchall() == [
        ("run", 0, 0),
        ("run", 1, 0),
        ("run", 2, 2),
        ("run", 3, 2),
    ]
    query = "SELECT name, compared_ranks, max_rank, mean_ns FROM imbalance WHERE level = 'op'"
    assert run.sql(f"{query} ORDER BY name").fetchall() == [
        ("aten::embedding", 2, 1, 20_000),
        ("aten::softmax", 2, 2, 20_000),
    ]


def test_ranks_of_a_data_parallel_group_are_peers() -> None:
    """Tensor parallelism over ranks 0 and 1, and 2 and 3: peers are 0 and 2, 1 and 3."""
    groups = [("default_pg", [0, 1, 2, 3]), ("mesh_dp", [0, 2]), ("mesh_dp", [1, 3])]
    groups += [("mesh_tp", [0, 1]), ("mesh_tp", [2, 3]), ("mesh_pp", [0])]
    traces = {f"rank{rank}.json": staged(rank, {"a a": 1}, groups) for rank in range(4)}
    found = built(Run(traces)).sql("SELECT rank, lowest_peer FROM rank_peers ORDER BY rank")
    assert found.fetchall() == [(0, 0), (1, 1), (2, 0), (3, 1)]


def kernel_times(path: Path) -> dict[str, float]:
    """Return the time of each kernel name in the steps of a trace, ns per step, from its text."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    steps = [e for e in events if e.get("cat") == "user_annotation" and "ProfilerS" in e["name"]]
    starts = {
        e["args"]["correlation"]: e["ts"]
        for e in events
        if e.get("cat") in ("cuda_runtime", "cuda_driver")
    }
    times: dict[str, float] = defaultdict(float)
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            start = starts.get(event["args"]["correlation"], event["ts"])
            if any(step["ts"] <= start < step["ts"] + step["dur"] for step in steps):
                times[event["name"]] += 1000 * event["dur"] / len(steps)
    return times


def test_kernels_of_a_real_run(sampled: Samples) -> None:
    times = [kernel_times(path) for path in sampled.files(TWO_RANKS)]
    with ingest.connect(sampled.store(TWO_RANKS)) as connection:
        found = connection.execute(f"SELECT {TIMES} FROM imbalance WHERE level = 'kernel'")
        rows = found.fetchall()
    expected = []
    for name in times[0].keys() | times[1].keys():
        each = [time.get(name, 0) for time in times]
        middle, most = median(each), max(each)
        values = (middle, min(each), middle, most, most - middle)
        if not name.startswith("nccl"):
            expected.append((name, sum(name in time for time in times), each.index(most), *values))
    assert len(rows) > 100
    assert sorted(rows) == sorted(expected)

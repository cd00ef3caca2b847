"""Traces of other profilers and of torch's other exports: begins and ends, missing categories."""

import json
from typing import Any

import duckdb
import pytest

import ingest
from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import Relations, built
from tests.conftest import Traces
from tests.helpers.command import Command

SHOWN = (
    "SELECT name, category, dur_ns // 1000, self_ns // 1000, depth FROM events ORDER BY event_id"
)


def place(name: str, ts: float, dur: float, process: str, thread: int = 1) -> Event:
    """Return an event without a category, as `EventList.export_chrome_trace` writes it."""
    where = {"pid": process, "tid": thread, "args": {}}
    return {"name": name, "ph": "X", "ts": ts, "dur": dur, **where}


def mark(phase: str, name: str, ts: float, category: str = "cpu_op", **more: Any) -> Event:
    return {"ph": phase, "name": name, "ts": ts, "cat": category, "pid": 1, "tid": 1, **more}


def named(process: str, pid: int) -> Event:
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": process}}


def kernels(found: Relations | duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """Return name, operator, device, stream and duration (ns) of each kernel, by name."""
    query = "SELECT name, op, device, stream, dur_ns FROM kernels ORDER BY name"
    return found.sql(query).fetchall()


def test_an_event_list_of_torch_has_operators_frames_and_kernels() -> None:
    arrow = {"id": 0, "cat": "cpu_to_cuda", "name": "addmm", "args": {}}
    found = built(
        [
            place("model.py(3): forward", 100, 60, "CPU functions"),
            place("aten::linear", 100.5, 40.25, "CPU functions"),
            place("aten::addmm", 110, 20, "CPU functions"),
            {
                "ph": "s",
                "ts": 110,
                "tid": 1,
                "pid": "CPU functions",
                "name": "aten::addmm",
                **arrow,
            },
            {"ph": "f", "ts": 120, "tid": 0, "pid": "CUDA functions", **arrow},
            place("gemm", 120, 30, "CUDA functions", 0),
            place("Memcpy HtoD", 160, 5, "CUDA functions", 1),
            place("[memory]", 165, 0, "CPU functions"),
            place("void at::native::vectorized<4>(int)", 170, 5, "CPU functions"),
        ]
    )
    rows = found.sql("SELECT name, category, self_ns FROM events ORDER BY event_id").fetchall()
    assert rows[:3] == [
        ("model.py(3): forward", "python_function", 19_750),
        ("aten::linear", "cpu_op", 20_250),
        ("aten::addmm", "cpu_op", 20_000),
    ]
    assert [category for _, category, _ in rows[3:]] == ["kernel", "gpu_memcpy", None, None]
    assert kernels(found) == [
        ("Memcpy HtoD", None, 1, 1, 5_000),
        ("gemm", "aten::addmm", 0, 0, 30_000),
    ]
    [source] = found.sources
    assert source.warning_codes == ["category_unknown"]
    assert source.warnings[0].startswith("2 events without a category")


def test_kernels_on_the_row_of_the_cpu_are_no_operators() -> None:
    names = ("ampere_sgemm_128x64_tn", "triton_poi_fused_add_0", "ncclDevKernel_AllReduce")
    kernels_of_gpu = [place(name, 20, 90, "CPU functions") for name in names]
    mine = place("my block", 0, 100, "CPU functions")
    found = built([mine, place("aten::mm", 10, 50, "CPU functions"), *kernels_of_gpu])
    rows = found.sql("SELECT name, self_ns FROM events WHERE category = 'cpu_op' ORDER BY name")
    assert rows.fetchall() == [("aten::mm", 50_000), ("my block", 50_000)]
    assert found.sources[0].warnings[0].startswith("3 events without a category")


def test_work_of_an_ascend_device_counts_and_its_waits_do_not() -> None:
    arrow = {"cat": "async_npu", "name": "async_npu", "id": "1", "bp": "e"}
    events = [
        named("Python", 1000),
        named("CANN", 1003),
        named("Ascend Hardware", 1005),
        op("aten::mm", 0, 30.5, pid=1000, tid=77),
        place("AscendCL@aclnnMm", 10, 5, "", 77) | {"pid": 1003},
        place("aclnnMm_MatMulV2", 60, 100.25, "", 2) | {"pid": 1005},
        *(
            place(name, at, 10, "", 2) | {"pid": 1005}
            for at, name in enumerate(("EVENT_WAIT", "PROFILING_ENABLE", "PLACE_HOLDER_SQE"), 170)
        ),
        {"ph": "s", "pid": 1000, "tid": 77, "ts": 0, **arrow},
        {"ph": "f", "pid": 1005, "tid": 2, "ts": 60, **arrow},
    ]
    found = built(events)
    assert kernels(found) == [("aclnnMm_MatMulV2", "aten::mm", 1005, 2, 100_250)]
    assert found.sources[0].warnings[0].startswith("4 events without a category")


def test_names_that_begin_like_tasks_of_ascend_are_kernels_elsewhere() -> None:
    names = ["event_embedding_kernel", "model_norm_kernel", "notify_dispatch", "stream_k_gemm"]
    found = built([place(name, at, 1, "GPU 0") for at, name in enumerate(names)])
    assert [row[0] for row in kernels(found)] == names


def test_a_device_of_the_arguments_counts() -> None:
    recorded = place("a", 0, 1, "CUDA functions", 5) | {"args": {"device": 1}}
    text = place("b", 5, 1, "CUDA functions") | {"tid": "x", "args": "text"}
    found = built([recorded, text, op("aten::mm") | {"cat": ""}])
    assert found.sql("SELECT name, device FROM kernels ORDER BY name").fetchall() == [
        ("a", 1),
        ("b", None),
    ]
    assert found.sql("SELECT name FROM ops").fetchall() == [("aten::mm",)]


@pytest.mark.parametrize("pid", [3, "GPU 3"])
def test_threads_of_streams_and_processes_of_devices_are_known(pid: int | str) -> None:
    thread = {"ph": "M", "name": "thread_name", "pid": 3, "tid": 7, "args": {"name": "stream 7"}}
    found = built([thread, place("gemm", 0, 5, "", 7) | {"pid": pid}, op("aten::mm")])
    assert [row[0] for row in kernels(found)] == ["gemm"]


def test_begins_and_ends_are_complete_events() -> None:
    found = built(
        [
            mark("E", "", 1),  # of an event that began before the recording
            mark("B", "outer", 10, args={"External id": 5, "x": None}),
            mark("B", "inner", 20, cat="python_function"),
            mark("E", "inner", 25),
            {"ph": "E", "pid": 1, "tid": 1, "ts": 50, "args": {"y": 2}},
            mark("B", "open", 60),
            mark("B", "k", 15, "kernel", pid=0, tid=7, args={"stream": 7, "External id": 5}),
            mark("E", "k", 45, "kernel", pid=0, tid=7),
            mark("b", "request", 5, "server", id="0x1"),
            mark("b", "other", 6, "server", id="0x2"),
            mark("e", "request", 30, "server", id="0x1"),
        ]
    )
    assert found.sql(SHOWN).fetchall() == [
        ("outer", "cpu_op", 40, 35, 0),
        ("inner", "python_function", 5, 5, 1),
        ("k", "kernel", 30, None, None),
        ("request", "server", 25, None, None),
    ]
    [(args,)] = found.sql("SELECT args FROM events WHERE name = 'outer'").fetchall()
    assert json.loads(args) == {"External id": 5, "x": None, "y": 2}
    assert [row[:2] for row in kernels(found)] == [("k", "outer")]
    [source] = found.sources
    assert source.other == {"phase B": 1, "phase E": 1, "phase b": 1}
    assert source.events == 7


ARGUMENTS = [  # of the begin, of the end, of the event
    ({"x": 1}, None, {"x": 1}),
    ({"x": 1}, "text", {"x": 1}),
    ({"x": 1, "y": None}, {"x": 2}, {"x": 2, "y": None}),
    ({}, {"x": 1}, {"x": 1}),
    (None, {"x": 1}, {"x": 1}),
    ("text", {}, "text"),
]


def test_pairs_keep_the_arguments_of_both() -> None:
    events = [
        event
        for at, (begin, end, _) in enumerate(ARGUMENTS)
        for event in (
            mark("B", f"{at}", 10 * at, args=begin),
            {"ph": "E", "pid": 1, "tid": 1, "ts": 10 * at + 5, "args": end},
        )
    ]
    rows = built(events).sql("SELECT args FROM events ORDER BY start_ns").fetchall()
    found = [json.loads(args) for (args,) in rows]
    assert found == [expected for _, _, expected in ARGUMENTS]


def test_asynchronous_pairs_need_the_same_id_and_scope() -> None:
    def named(phase: str, name: str, ts: float, **more: Any) -> Event:
        return mark(phase, name, ts, "server", **more)

    found = built(
        [
            named("b", "A", 0, id="0x1", scope="s1"),
            named("b", "B", 2, id="0x1", scope="s2"),
            named("e", "A", 10, id="0x1", scope="s1"),
            named("e", "B", 20, id="0x1", scope="s2"),
            named("b", "C", 30, tid=1),
            named("b", "D", 32, tid=2),
            named("e", "C", 35, tid=1),
            named("e", "D", 39, tid=2),
        ]
    )
    rows = found.sql("SELECT name, dur_ns // 1000 FROM events ORDER BY name").fetchall()
    assert rows == [("A", 10), ("B", 18), ("C", 5), ("D", 7)]


def test_flows_that_share_an_id_link_nothing() -> None:
    arrow = {"cat": "cpu_to_cuda", "name": "x", "id": 1}
    events: list[Event] = []
    for at in (0, 100):
        events += [
            op(f"aten::op{at}", at, 10),
            kernel(f"k{at}", at + 20, 5),
            {"ph": "s", "pid": 1, "tid": 1, "ts": at, **arrow},
            {"ph": "f", "pid": 0, "tid": 7, "ts": at + 20, **arrow},
        ]
    assert [row[:2] for row in kernels(built(events))] == [("k0", None), ("k100", None)]


def test_times_of_pairs_are_exact() -> None:
    since = "1700000000000000.123"
    text = (
        f'[{{"ph":"B","name":"a","cat":"cpu_op","pid":1,"tid":1,"ts":{since}}},'
        '{"ph":"E","pid":1,"tid":1,"ts":1700000000000100.456}]'
    )
    found = built(text)
    rows = found.sql("SELECT start_ns, dur_ns FROM events").fetchall()
    assert rows == [(1_700_000_000_000_000_123, 100_333)]


def test_any_accelerator_s_launches_are_linked() -> None:
    launch = host("musaLaunchKernel", "musa_runtime", 10, 8, {"correlation": 11})
    found = built([op("aten::mm", 0, 100), launch, kernel("gemm", 50, 60, correlation=11)])
    assert [row[:2] for row in kernels(found)] == [("gemm", "aten::mm")]


def test_events_that_no_ranking_shows_are_named(
    traces: Traces, command: Command, store: ingest.Store
) -> None:
    odd = [op(name, cat="odd") for name in ("a", "b")]
    run = store.add(traces.write([*odd, place("c", 5, 1, "x")], "odd")).run_id
    shown = command("top", run).out
    assert "2 events of category odd" in shown
    assert "1 event of category (no category)" in shown


def test_a_timeline_of_megengine_has_operators_and_kernels(traces: Traces) -> None:
    """MegEngine's Python profiler writes begins and ends, most of them without a category."""

    def node(tid: int, name: str) -> Event:
        return {"ph": "M", "name": "thread_name", "pid": 7, "tid": tid, "args": {"name": name}}

    def at(phase: str, ts: float, tid: int = 1, **more: Any) -> Event:
        return {"ph": phase, "name": "Conv", "ts": ts, "pid": 7, "tid": tid, **more}

    launch = {"cat": "KernelLaunch", "id": 1}
    run = traces.add(
        [
            node(1, "MegEngine worker"),
            node(9, "gpu2:1"),
            at("B", 100.5),
            at("s", 101.5, **launch),
            at("B", 110.5, 9, cat="Kernel"),
            at("f", 110.5, 9, bp="e", **launch),
            at("E", 103.5, args={"shape": "1,3"}),
            at("E", 150.5, 9, cat="Kernel"),
            at("B", 200),
            at("E", 201),
        ]
    )

    operators = run.sql("SELECT name, dur_ns, device_ns FROM ops ORDER BY start_ns")
    assert operators.fetchall() == [("Conv", 3_000, 40_000), ("Conv", 1_000, 0)]
    assert kernels(run) == [("Conv", "Conv", 2, 1, 40_000)]
    assert run.sql("SELECT framework FROM runs").fetchall() == [("megengine",)]
    assert run.sql("SELECT warnings FROM sources").fetchall() == [([],)]

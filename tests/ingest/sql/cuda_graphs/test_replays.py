"""Which capture a graph launch replays, and what is known if several fit or none."""

from typing import Any

import duckdb
import pytest

from ingest import sql
from tests.builders.cuda_graphs import Activity, Launch, capture, replay
from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import built

Found = list[tuple[Any, ...]]
ATTRIBUTED = """
    SELECT name, graph_top_op, graph_evidence FROM kernels WHERE is_graph_launch ORDER BY start_ns
"""
KINDS = {
    "cudaLaunchKernel": "kernel",
    "cudaLaunchKernelExC": "kernel",
    "cuLaunchKernelEx": "kernel",
    "hipExtModuleLaunchKernel": "kernel",
    "cudaLaunchCooperativeKernel": "kernel",
    "cudaMemcpyAsync": "memcpy",
    "cudaMemcpy2DAsync": "memcpy",
    "hipMemcpyWithStream": "memcpy",
    "cudaMemsetAsync": "memset",
    "cuMemsetD8Async": "memset",
    "cudaGraphLaunch": None,
    "cudaLaunchHostFunc": None,
    "cudaStreamIsCapturing": None,
}
MM: Launch = ("aten::mm", None)
ADD: Launch = ("aten::add", None)
NAMED: list[Launch] = [("aten::mm", "gemm"), ("aten::add", "add_kernel")]


def attributed(*events: list[Event]) -> Found:
    """Return the name, operator and evidence of each activity of a graph launch, by start."""
    return built([event for each in events for event in each]).sql(ATTRIBUTED).fetchall()


def on(stream: int, *names: str) -> list[Activity]:
    return [(name, stream) for name in names]


def test_names_of_kernels_are_evidence() -> None:
    assert attributed(capture(NAMED), replay(on(7, "gemm", "add_kernel"))) == [
        ("gemm", "aten::mm", "names"),
        ("add_kernel", "aten::add", "names"),
    ]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["add_kernel", "gemm"], id="in another order"),
        pytest.param(["gemm", "mul_kernel"], id="another kernel"),
        pytest.param(["gemm", "add_kernel", "add_kernel"], id="one kernel more"),
        pytest.param([], id="none"),
    ],
)
def test_other_kernels_are_not_attributed(names: list[str]) -> None:
    assert {row[1:] for row in attributed(capture(NAMED), replay(on(7, *names)))} <= {(None, None)}


def test_only_the_last_kernel_may_be_missing_and_only_if_names_are_known() -> None:
    assert attributed(capture(NAMED), replay(on(7, "gemm"))) == [("gemm", "aten::mm", "names")]
    assert attributed(capture(NAMED), replay(on(7, "add_kernel"))) == [("add_kernel", None, None)]
    assert attributed(capture([MM, ADD]), replay(on(7, "gemm"))) == [("gemm", None, None)]


def test_without_names_the_number_and_kinds_of_activities_are_evidence() -> None:
    events = capture([MM, ADD])
    assert attributed(events, replay(on(7, "a", "b"))) == [
        ("a", "aten::mm", "order"),
        ("b", "aten::add", "order"),
    ]
    copied = replay(on(7, "a", "Memcpy DtoD"))
    copied[-1]["cat"] = "gpu_memcpy"
    assert attributed(events, copied) == [("a", None, None), ("Memcpy DtoD", None, None)]


def test_the_same_operator_outside_of_the_capture_tells_the_name() -> None:
    eager = [
        op("aten::mm", 1000, 5, args={"Input Dims": [[2, 2]]}),
        host("cudaLaunchKernel", "cuda_runtime", 1001, 1, {"correlation": 5}),
        kernel("gemm", 1010, 5, correlation=5),
    ]
    events = capture([MM], dims=[[2, 2]])
    assert attributed(events, eager, replay(on(7, "gemm"))) == [("gemm", "aten::mm", "names")]
    assert attributed(events, eager, replay(on(7, "other"))) == [("other", None, None)]
    other_shape = capture([MM], dims=[[4, 4]])
    assert attributed(other_shape, eager, replay(on(7, "x"))) == [("x", "aten::mm", "order")]


def test_of_several_captures_only_what_they_agree_on_is_known() -> None:
    small, large = capture([MM, ADD], 0, [[1]]), capture([MM, ("aten::mul", None)], 100, [[8]])
    events = [*small, *large, *replay(on(7, "a", "b"))]
    found = built(events).sql("SELECT graph_top_op, node_id IS NULL FROM kernels ORDER BY start_ns")
    assert found.fetchall() == [("aten::mm", True), (None, True)]


def test_a_capture_with_names_is_better_than_one_without() -> None:
    events = [*capture([ADD, ADD], 0), *capture(NAMED, 100)]
    assert attributed(events, replay(on(7, "gemm", "add_kernel"))) == [
        ("gemm", "aten::mm", "names"),
        ("add_kernel", "aten::add", "names"),
    ]


def test_activities_of_several_streams_need_names() -> None:
    mixed: list[Activity] = [("add_kernel", 8), ("gemm", 7)]
    assert attributed(capture(NAMED), replay(mixed)) == [
        ("add_kernel", "aten::add", "names"),
        ("gemm", "aten::mm", "names"),
    ]
    assert {row[1] for row in attributed(capture([MM, ADD]), replay(mixed))} == {None}


def test_kernels_of_one_name_on_several_streams_are_not_told_apart() -> None:
    launches: list[Launch] = [("aten::mm", "gemm"), ("aten::bmm", "gemm"), ("aten::add", "add")]
    found = attributed(capture(launches), replay([("gemm", 7), ("gemm", 8), ("add", 7)]))
    assert found == [("gemm", None, None), ("gemm", None, None), ("add", "aten::add", "names")]


def test_graph_node_ids_number_the_launches() -> None:
    numbered = [("b", 8, {"graph node id": 102}), ("a", 7, {"graph node id": 101})]
    assert attributed(capture([MM, ADD]), replay(numbered)) == [
        ("b", "aten::add", "order"),
        ("a", "aten::mm", "order"),
    ]


def test_launches_of_other_threads_are_recorded_too_but_not_those_that_run() -> None:
    other = [
        host("cudaLaunchKernel", "cuda_runtime", 15, 1, {"correlation": 0}, tid=2),
        op("aten::relu", 14, 3, tid=2),
        host("cudaLaunchKernel", "cuda_runtime", 18, 1, {"correlation": 77}, tid=2),
        kernel("runs", 400, 1, correlation=77),
    ]
    assert attributed(capture([MM, ADD]), other, replay(on(7, "a", "r", "b"))) == [
        ("a", "aten::mm", "order"),
        ("r", "aten::relu", "order"),
        ("b", "aten::add", "order"),
    ]


def test_calls_record_kernels_copies_and_fills() -> None:
    connection = duckdb.connect()
    connection.execute(sql.files()["recorded_kind"].statement)
    found = connection.execute(
        "SELECT name, recorded_kind(name) FROM (SELECT unnest($1) AS name)", [list(KINDS)]
    )
    assert dict(found.fetchall()) == KINDS

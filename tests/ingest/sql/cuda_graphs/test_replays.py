"""Which capture a graph launch replays, and what is known if several fit or none."""

from typing import Any

import duckdb
import pytest

from ingest import sql
from tests.builders.cuda_graphs import Activity, Launch, capture, replay
from tests.builders.events import Event, frame, host, kernel, op
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
    "cudaGraphLaunch": "graph",
    "cudaLaunchHostFunc": None,
    "cudaStreamIsCapturing": None,
}
MM: Launch = ("aten::mm", None)
ADD: Launch = ("aten::add", None)
PARTLY: Launch = ("aten::mm", "gemm")
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
    ],
)
def test_other_kernels_are_not_attributed(names: list[str]) -> None:
    found = attributed(capture(NAMED), replay(on(7, *names)))
    assert found == [(name, None, None) for name in names]


def test_only_rocm_loses_the_last_kernel() -> None:
    def rocm(*names: str) -> list[Event]:
        launch, *activities = replay(on(7, *names))
        return [{**launch, "name": "hipGraphLaunch"}, *activities]

    known, unknown = [("gemm", "aten::mm", "names")], [("gemm", None, None)]
    assert attributed(capture(NAMED), rocm("gemm")) == known
    assert attributed(capture(NAMED), rocm("add_kernel")) == [("add_kernel", None, None)]
    assert attributed(capture([MM, ADD]), rocm("gemm")) == unknown
    assert attributed(capture(NAMED), replay(on(7, "gemm"))) == unknown


def test_with_some_names_the_number_and_kinds_of_activities_are_evidence() -> None:
    events = capture([PARTLY, ADD])
    assert attributed(events, replay(on(7, "gemm", "b"))) == [
        ("gemm", "aten::mm", "order"),
        ("b", "aten::add", "order"),
    ]
    copied = replay(on(7, "gemm", "Memcpy DtoD"))
    copied[-1]["cat"] = "gpu_memcpy"
    assert attributed(events, copied) == [("gemm", None, None), ("Memcpy DtoD", None, None)]


def test_without_names_the_number_must_not_be_equal_by_chance() -> None:
    names = [f"kernel_{number}" for number in range(10)]
    found = attributed(capture([MM, ADD] * 5), replay(on(7, *names)))
    assert [row[1:] for row in found] == [("aten::mm", "order"), ("aten::add", "order")] * 5
    found = attributed(capture([MM, ADD]), replay(on(7, *names[:2])))
    assert [row[1:] for row in found] == [(None, None)] * 2


def test_a_capture_with_a_fork_has_no_order() -> None:
    fork = [host("cudaStreamWaitEvent", "cuda_runtime", 15, 1)]
    events = [*capture([PARTLY, ADD]), *fork]
    assert attributed(events, replay(on(7, "gemm", "b"))) == [
        ("gemm", None, None),
        ("b", None, None),
    ]
    named = [*capture(NAMED), *fork]
    assert attributed(named, replay(on(7, "gemm", "add_kernel")))[0][1:] == ("aten::mm", "names")


def test_a_graph_inside_a_graph_is_not_attributed() -> None:
    child = host("cudaGraphLaunch", "cuda_runtime", 15, 1, {"correlation": 0})
    events = [*capture([PARTLY, ADD]), child]
    for names in (["gemm", "b"], ["gemm", "x", "y", "b"], ["gemm", "x", "b"]):
        found = attributed(events, replay(on(7, *names)))
        assert [row[1:] for row in found] == [(None, None)] * len(names)


def test_the_same_operator_outside_of_the_capture_tells_the_name() -> None:
    eager = [
        op("aten::mm", 1000, 5, args={"Input Dims": [[2, 2]]}),
        host("cudaLaunchKernel", "cuda_runtime", 1001, 1, {"correlation": 5}),
        kernel("gemm", 1010, 5, correlation=5),
    ]
    events = capture([MM], dims=[[2, 2]])
    assert attributed(events, eager, replay(on(7, "gemm"))) == [("gemm", "aten::mm", "names")]
    assert attributed(events, eager, replay(on(7, "other"))) == [("other", None, None)]
    other_shape = capture([MM, PARTLY], dims=[[4, 4]])
    assert attributed(other_shape, eager, replay(on(7, "x", "gemm")))[0] == (
        "x", "aten::mm", "order"
    )  # fmt: skip


def test_of_several_captures_only_what_they_agree_on_is_known() -> None:
    small = capture([PARTLY, ADD], 0, [[1]])
    large = capture([PARTLY, ("aten::mul", None)], 100, [[8]])
    events = [*small, *large, *replay(on(7, "gemm", "b"))]
    found = built(events).sql(
        "SELECT graph_top_op, recorded_id IS NULL FROM kernels ORDER BY start_ns"
    )
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


def test_kernels_of_one_name_are_not_told_apart_on_several_streams() -> None:
    launches: list[Launch] = [("aten::mm", "gemm"), ("aten::bmm", "gemm"), ("aten::add", "add")]
    found = attributed(capture(launches), replay([("gemm", 7), ("gemm", 8), ("add", 7)]))
    assert found == [("gemm", None, None), ("gemm", None, None), ("add", "aten::add", "names")]


def test_kernels_of_one_name_and_several_operators_are_not_told_apart() -> None:
    launches: list[Launch] = [("aten::mm", "gemm"), ("aten::bmm", "gemm"), ("aten::add", "add")]
    found = attributed(capture(launches), replay([("gemm", 7), ("add", 8), ("gemm", 7)]))
    assert found == [("gemm", None, None), ("add", "aten::add", "names"), ("gemm", None, None)]


def test_graph_node_ids_number_the_launches() -> None:
    numbered = [("b", 8, {"graph node id": 102}), ("gemm", 7, {"graph node id": 101})]
    assert attributed(capture([PARTLY, ADD]), replay(numbered)) == [
        ("b", "aten::add", "order"),
        ("gemm", "aten::mm", "order"),
    ]
    same = [("b", 8, {"graph node id": 101.4}), ("gemm", 7, {"graph node id": 101.2})]
    assert attributed(capture([PARTLY, ADD]), replay(same)) == [
        ("b", None, None),
        ("gemm", None, None),
    ]


def test_launches_of_other_threads_are_recorded_too_but_not_those_that_run() -> None:
    other = [
        host("cudaLaunchKernel", "cuda_runtime", 15, 1, {"correlation": 0}, tid=2),
        op("aten::relu", 14, 3, tid=2),
        host("cudaLaunchKernel", "cuda_runtime", 18, 1, {"correlation": 77}, tid=2),
        kernel("runs", 400, 1, correlation=77),
    ]
    assert attributed(capture([PARTLY, ADD]), other, replay(on(7, "gemm", "r", "b"))) == [
        ("gemm", "aten::mm", "order"),
        ("r", "aten::relu", "order"),
        ("b", "aten::add", "order"),
    ]


def test_calls_record_kernels_copies_and_fills() -> None:
    connection = duckdb.connect()
    for macro in ("is_graph_launch", "recorded_kind"):
        connection.execute(sql.files()[macro].statement)
    found = connection.execute(
        "SELECT name, recorded_kind(name) FROM (SELECT unnest($1) AS name)", [list(KINDS)]
    )
    assert dict(found.fetchall()) == KINDS


def test_a_launch_before_the_capture_does_not_replay_it() -> None:
    events = [*replay(on(7, "gemm", "add_kernel"), 0), *capture(NAMED, 1000)]
    later = replay(on(7, "gemm", "add_kernel"), 2000, correlation=901)
    assert attributed(events, later) == [
        ("gemm", None, None),
        ("add_kernel", None, None),
        ("gemm", "aten::mm", "names"),
        ("add_kernel", "aten::add", "names"),
    ]


def test_a_thread_that_captures_records_in_its_own_capture() -> None:
    other = [{**event, "tid": 2} for event in capture([("aten::relu", "relu")], 5)]
    found = built([*capture(NAMED), *other]).sql(
        "SELECT list(kernel ORDER BY ordinal) AS kernels FROM graph_nodes "
        "GROUP BY capture_id ORDER BY kernels"
    )
    assert found.fetchall() == [(["gemm", "add_kernel"],), (["relu"],)]


def test_a_comparison_has_the_operators_of_graphs() -> None:
    eager = [
        event
        for number, (operator, name) in enumerate(NAMED)
        for event in (
            op(operator, 100 + 20 * number, 10),
            host(
                "cudaLaunchKernel",
                "cuda_runtime",
                101 + 20 * number,
                1,
                {"correlation": number + 1},
            ),
            kernel(str(name), 110 + 20 * number, 16, correlation=number + 1),
        )
    ]
    graph = [*capture(NAMED), *replay(on(7, "gemm", "add_kernel"))]
    relations = built({"eager": eager, "graph": graph})
    found = relations.sql(
        "SELECT name, status, base_ns, other_ns FROM op_diff('eager', 'graph') ORDER BY name"
    )
    assert found.fetchall() == [
        ("aten::add", "faster", 16_000, 8_000),
        ("aten::mm", "faster", 16_000, 8_000),
    ]
    timeline = relations.sql(
        "SELECT op, work_item_id IN (SELECT work_item_id FROM "
        "compared_work_items('eager', 'graph')) FROM work_item_timeline WHERE measure = 'device'"
    )
    assert sorted(timeline.fetchall()) == [("aten::add", True)] * 2 + [("aten::mm", True)] * 2


def test_a_graph_launch_inside_an_operator_has_one_name_everywhere() -> None:
    around = op("mine::run", 490, 100)
    relations = built([*capture(NAMED), around, *replay(on(7, "gemm", "add_kernel"))])
    ranked = relations.sql("SELECT name FROM op_ranking WHERE name <> 'bubble' ORDER BY name")
    assert ranked.fetchall() == [("aten::add",), ("aten::mm",)]
    compared = relations.sql("SELECT name FROM op_diff('run', 'run') ORDER BY name")
    assert compared.fetchall() == [("aten::add",), ("aten::mm",)]


def test_the_module_around_the_launch_keeps_its_time() -> None:
    events = [
        frame("nn.Module: Block_0", 1, 40),
        *capture(NAMED),
        frame("nn.Module: Model_0", 490, 60),
        *replay(on(7, "gemm", "add_kernel")),
    ]
    found = built(events).sql(
        "SELECT module, device_ns FROM module_ranking WHERE device_ns > 0 ORDER BY module"
    )
    assert found.fetchall() == [("Model_0", 16_000)]

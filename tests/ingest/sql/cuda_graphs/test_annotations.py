"""Annotations of graph nodes, in the trace or in a file beside it."""

import json
from typing import Any

import pytest

from tests.builders.cuda_graphs import capture, replay
from tests.builders.events import Event, frame
from tests.builders.relations import Run, built

NODE = 7 << 32 | 3


def node(**more: Any) -> list[Event]:
    """Return a graph launch with one kernel, whose node has the id `NODE`."""
    return replay([("gemm", 7, {"graph node id": NODE, **more})])


def beside(*annotations: Any, node_id: Any = NODE) -> Run:
    """Return a run with the kernel, and a file with the node's annotations."""
    return Run(
        {
            "trace.json": {"traceEvents": node()},
            "annotations.json": {"graph_node_annotations": {str(node_id): list(annotations)}},
        }
    )


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(node(name="attention"), id="name"),
        pytest.param(node(str="attention"), id="as torch 2.13 writes it"),
        pytest.param(node(annotation="attention"), id="not a dictionary"),
        pytest.param(beside({"name": "attention", "dtype": "bf16"}), id="file"),
        pytest.param(beside("attention"), id="file with text"),
        pytest.param(beside({"dtype": "bf16"}, {"name": "attention"}), id="nested scopes"),
    ],
)
def test_an_annotated_kernel_is_ranked_under_its_annotation(run: Run | list[Event]) -> None:
    relations = built(run)
    found = relations.sql("SELECT graph_label, graph_evidence FROM kernels").fetchall()
    assert found == [("attention", "annotation")]
    ranked = relations.sql("SELECT name FROM op_ranking WHERE name <> 'bubble'").fetchall()
    assert ranked == [("attention",)]


def test_an_annotation_without_a_module_leaves_the_module_of_the_launch() -> None:
    events = [frame("nn.Module: Model_0", 490, 100), *node(name="attention")]
    found = built(events).sql("SELECT module, device_ns FROM module_ranking")
    assert found.fetchall() == [("Model_0", 8_000)]


def test_a_module_of_an_annotation_has_the_kernels_time() -> None:
    found = built(beside({"module_fqn": "layers.0.attention"})).sql(
        "SELECT module, depth, device_ns FROM module_ranking ORDER BY depth"
    )
    assert found.fetchall() == [
        ("layers", 0, 8_000),
        ("layers/0", 1, 8_000),
        ("layers/0/attention", 2, 8_000),
    ]


def test_modules_of_annotations_in_a_trace_of_captures_count_once() -> None:
    annotated = node(module_fqn="layers.0")
    captures = {"traceEvents": [*capture([("aten::mm", "gemm")]), *annotated]}
    run = Run({"trace.json": {"traceEvents": annotated}, "capture_traces/a.json": captures})
    found = built(run).sql("SELECT module, device_ns FROM module_ranking ORDER BY module")
    assert found.fetchall() == [("layers", 8_000), ("layers/0", 8_000)]


def test_the_outermost_module_has_no_name() -> None:
    found = built(beside({"module_fqn": "", "name": ""})).sql("SELECT graph_evidence FROM kernels")
    assert found.fetchall() == [(None,)]


def test_a_capture_tells_the_operator_and_the_annotation_its_name() -> None:
    events = [*capture([("aten::mm", "gemm")]), *node(name="attention")]
    found = built(events).sql("SELECT graph_top_op, graph_label, graph_evidence FROM kernels")
    assert found.fetchall() == [("aten::mm", "attention", "names")]


@pytest.mark.parametrize("node_id", [NODE + 1, "x", "-1", 1 << 64])
def test_annotations_of_other_nodes_are_not_used(node_id: Any) -> None:
    found = built(beside("attention", node_id=node_id)).sql("SELECT graph_evidence FROM kernels")
    assert found.fetchall() == [(None,)]


def test_damaged_annotations_are_counted() -> None:
    files = {"3": ["a\ud800", 1], "4": "not a list", "five": ["b"], "9" * 5000: ["c"]}
    run = Run(
        {
            "trace.json": {"traceEvents": node()},
            "annotations.json": {"graph_node_annotations": files},
            "cut.json": json.dumps({"graph_node_annotations": files})[:-5],
        }
    )
    found = built(run).sql(
        "SELECT parse_filename(path), kind, status, events, warning_codes FROM sources ORDER BY 1"
    )
    assert found.fetchall()[:2] == [
        ("annotations.json", "graph_annotations", "ok", 4, ["annotations_unread", "rank_assumed"]),
        ("cut.json", "graph_annotations", "failed", None, ["unreadable", "rank_assumed"]),
    ]

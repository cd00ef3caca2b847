"""Recorded CUDA graphs. The programs, or plain Python over the files, tell the operators."""

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from tests.builders.relations import built
from tests.helpers.recorded import RECORDINGS

GPU = RECORDINGS / "gpu"
OPERATORS = """
    SELECT graph_top_op, graph_op, graph_evidence, n.input_dims
    FROM kernels LEFT JOIN graph_nodes AS n USING (run_id, recorded_id)
    WHERE is_graph_launch AND launch_id = (SELECT max(launch_id) FROM kernels AS k WHERE {which})
    ORDER BY n.ordinal
"""


def operators(run: Path, which: str = "is_graph_launch") -> list[tuple[str, ...]]:
    return built(run).sql(OPERATORS.format(which=which)).fetchall()


def test_replays_in_a_second_session_have_the_operators_of_the_capture() -> None:
    first, second = "[[512],[64,256],[256,512],[],[]]", "[[256],[64,512],[512,256],[],[]]"
    assert operators(GPU / "gpu_graph_sessions") == [
        ("aten::linear", "aten::addmm", "order", first),
        ("aten::linear", "aten::addmm", "order", first),
        ("aten::gelu", "aten::gelu", "order", "[[64,512],[]]"),
        ("aten::layer_norm", "aten::native_layer_norm", "order", "[[64,512],[],[512],[512],[]]"),
        ("aten::linear", "aten::addmm", "order", second),
        ("aten::linear", "aten::addmm", "order", second),
        ("aten::add_", "aten::add_", "order", "[[64,256],[],[]]"),
    ]


def test_activities_of_several_streams_are_matched_by_the_names_of_the_warm_up() -> None:
    relations = built(GPU / "gpu_graph_rich")
    found = relations.sql(
        "SELECT launch_id, list(graph_top_op ORDER BY graph_top_op) FROM kernels "
        "WHERE graph_evidence = 'names' GROUP BY launch_id ORDER BY launch_id"
    ).fetchall()
    branches = ["add", "copy_", "copy_", "cos", "exp", "log", "sin", "zero_"]
    assert [names for _, names in found[::2]] == [[f"aten::{name}" for name in branches]] * 4
    assert [len(names) for _, names in found[1::2]] == [50] * 4
    stream = "SELECT DISTINCT stream FROM kernels WHERE is_graph_launch AND graph_op = 'aten::{}'"
    exp, sin = (relations.sql(stream.format(name)).fetchall() for name in ("exp", "sin"))
    assert exp == [(142,)]
    assert sin == [(7,)]


def test_graphs_of_compiled_code_have_its_operators() -> None:
    found = built(GPU / "gpu_reduce_overhead").sql(
        "SELECT graph_top_op, graph_evidence, count(*) FROM kernels WHERE is_graph_launch "
        "GROUP BY ALL ORDER BY 1"
    )
    assert [(op.partition("_")[0], *row) for op, *row in found.fetchall()] == [
        ("aten::mm", "names", 8),
        ("triton", "names", 6),
    ]


def test_calls_of_compiled_graphs_that_replay_have_their_kernels() -> None:
    """The program has eight calls: for each batch size a warm-up, a capture, and replays."""
    relations = built(GPU / "gpu_reduce_overhead")
    found = relations.sql(
        "SELECT calls, count(*) FROM (SELECT region_id, count(*) AS calls FROM compiled_calls "
        "GROUP BY region_id) GROUP BY calls"
    )
    assert found.fetchall() == [(2, 8)]
    assert relations.sql("SELECT warnings FROM sources WHERE len(warnings) > 0").fetchall() == []


def test_a_trace_of_captures_explains_replays_as_its_external_ids_do(
    samples: Path, tmp_path: Path
) -> None:
    captures, replays = (
        samples / "traces" / f"mi300_flux1_graph_{what}.json.gz" for what in ("capture", "replay")
    )
    run = tmp_path / "run"
    (run / "capture_traces").mkdir(parents=True)
    shutil.copy(captures, run / "capture_traces" / "graph_capture_rank_0.json.gz")
    shutil.copy(replays, run)
    relations = built(run)
    found = dict(
        relations.sql(
            "SELECT graph_op, sum(dur_ns)::BIGINT FROM kernels "
            "WHERE graph_evidence = 'names' GROUP BY ALL"
        ).fetchall()
    )
    assert found == device_ns_by_recorded_op(captures, replays)
    assert sum(found.values()) == 170_998_308  # all of the graphs' activities
    modules = "SELECT device_ns FROM module_ranking WHERE module = 'OptimizedModule_0'"
    assert relations.sql(modules).fetchall() == [(171_128_354,)]


def device_ns_by_recorded_op(captures: Path, replays: Path) -> dict[str, int]:
    """Return the time of the graphs' kernels by the operator with the External id of the launch.

    The replay lacks the last kernel of the capture, because ROCm's profiler loses it.
    """
    recorded, replayed = map(events_of, (captures, replays))
    begin, end = (
        next(each["ts"] for each in recorded if each["name"] == f"hipStream{what}Capture")
        for what in ("Begin", "End")
    )
    names = {
        each["args"]["External id"]: each["name"]
        for each in recorded
        if each.get("cat") == "cpu_op" and "External id" in each["args"]
    }
    nodes = sorted(
        (
            each
            for each in recorded
            if "kernel" in each.get("args", {}) and begin < each["ts"] < end
        ),
        key=lambda each: each["ts"],
    )
    launches = {
        each["args"]["correlation"] for each in replayed if each["name"] == "hipGraphLaunch"
    }
    found: Counter[str] = Counter()
    for launch in launches:
        kernels = sorted(
            (
                each
                for each in replayed
                if each.get("cat") == "kernel" and each["args"].get("correlation") == launch
            ),
            key=lambda each: each["ts"],
        )
        for node, kernel in zip(nodes, kernels, strict=False):
            assert node["args"]["kernel"] == kernel["name"]
            found[names[node["args"]["External id"]]] += round(kernel["dur"] * 1000)
    return dict(found)


def events_of(file: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    return events

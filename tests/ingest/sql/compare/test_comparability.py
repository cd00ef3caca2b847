"""Warnings about the comparability of runs: pairs of samples, and differences in run.json."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.builders import diff_traces, events
from tests.builders.compile_logs import event
from tests.conftest import Traces
from tests.samples import COMPILED, EAGER, Samples

Warnings = dict[str, tuple[str | None, str | None]]


def warnings(connection: duckdb.DuckDBPyConnection, base: str, other: str) -> Warnings:
    """Return both values of each warning by subject. Check that its sentence contains them."""
    ids = [
        connection.execute("SELECT run_id FROM runs WHERE name = ?", [name]).fetchall()[0][0]
        for name in (base, other)
    ]
    rows = connection.sql(f"FROM comparability('{ids[0]}', '{ids[1]}')").fetchall()
    for _, first, second, sentence in rows:
        assert sentence.endswith(".")
        assert all(value in sentence for value in (first, second) if value)
    return {subject: (first, second) for subject, first, second, _ in rows}


# The values were read by hand from the metadata, names and steps of the traces.
PAIRS: dict[tuple[str, str], Warnings] = {
    ("flux_eager_min", "flux_compile_recompile"): {
        "compiled while measured": (None, "2 (1 of them recompilations)"),
        "steps": ("2 steps (annotation transformer_forward)", "the whole recording"),
        "unsteady steps": ("2 steps", None),
        "profiler: record_shapes": ("off", "on"),
    },
    ("flux_compile_recompile", "flux_compiled_steady_bs5"): {
        "compiled while measured": ("2 (1 of them recompilations)", None),
    },
    ("h100_owlv2", "mi300_owlv2"): {
        "device": ("NVIDIA H100 80GB HBM3", "AMD Instinct MI300X VF"),
        "unsteady steps": ("1 step", "1 step"),
    },
    ("mi300_flux1_graph_capture", "mi300_flux1_graph_replay"): {
        "waited for compilation": ("569 ms", None),
        "steps": ("the whole recording", "1 step (ProfilerStep)"),
        "unsteady steps": (None, "1 step"),
    },
    ("nccl_training_control", "nccl_training_test"): {
        "device": ("NVIDIA A100-PG509-200", "Tesla V100-SXM2-16GB"),
        "world_size": ("8", "2"),
    },
    ("v100_resnet50_workers0", "v100_resnet50_workers4"): {
        "unsteady steps": (None, "124 ms to 163 ms in the middle half of 6 steps"),
    },
    ("flux_eager_full", "h100_owlv2"): {
        "shapes": ("18 % of calls", "15 % of calls"),
        "dtype": ("float32", "bfloat16"),
        "measure": ("host", "device"),
        "steps": ("2 steps (annotation transformer_forward)", "1 step (ProfilerStep)"),
        "unsteady steps": ("2 steps", "1 step"),
    },
}


@pytest.mark.parametrize("names", PAIRS, ids=" and ".join)
def test_warnings_of_sample_pairs(
    names: tuple[str, str], store_of_samples: duckdb.DuckDBPyConnection
) -> None:
    assert warnings(store_of_samples, *names) == PAIRS[names]


def test_eager_and_compiled_runs_in_the_same_conditions_are_comparable(sampled: Samples) -> None:
    pair = EAGER, f"{COMPILED}-rank0"
    with ingest.connect(sampled.store(*pair)) as connection:
        assert warnings(connection, *pair) == {"unsteady steps": ("2 steps", "2 steps")}


def run(traces: Traces, name: str, run_json: dict[str, Any], **metadata: Any) -> None:
    """Add a run directory of the eager trace with this `run.json`."""
    directory = traces.directory / name
    directory.mkdir()
    trace = traces.write(diff_traces.eager(), name, **metadata)
    trace.rename(directory / "trace.json")
    (directory / "run.json").write_text(json.dumps({"name": name, **run_json}))
    traces.store.add(directory)


def test_conditions_of_run_json_and_the_trace_are_compared(traces: Traces) -> None:
    """An older `capture` wrote `true` for the offload of whole models."""
    run_json = {
        "model": "flux",
        "batch": 1,
        "width": 64,
        "height": 32,
        "dtype": "float32",
        "framework_version": "2.12.0",
        "python_version": "3.11.7",
        "max_sequence_length": 8,
    }
    run(traces, "base", {**run_json, "mode": "eager", "offload": True}, with_stack=1)
    same = {"mode": "compiled", "offload": "model"}
    run(traces, "same", {**run_json, **same}, with_stack=1, seed=1)
    other = {
        "offload": "group",
        "batch": 4,
        "height": 64,
        "dtype": "bfloat16",
        "framework_version": "2.13.0",
    }
    run(traces, "other", {**run_json, **other, "model": None}, profile_memory=1)
    with ingest.connect(traces.store.path) as connection:
        unsteady = {"unsteady steps": ("2 steps", "2 steps")}
        assert warnings(connection, "base", "same") == unsteady
        assert warnings(connection, "base", "base") == unsteady
        assert warnings(connection, "base", "other") == unsteady | {
            "offload": ("model", "group"),
            "batch": ("1", "4"),
            "image size": ("64 × 32", "64 × 64"),
            "dtype": ("float32", "bfloat16"),
            "framework_version": ("2.12.0", "2.13.0"),
            "profiler: with_stack": ("on", "off"),
            "profiler: profile_memory": ("off", "on"),
        }


def test_different_shapes_different_steps_and_damage_have_warnings(traces: Traces) -> None:
    small = [diff_traces.Call("aten::mm", (10, 20), "gemm", (50, 10), [[2, 64], [64, 64]])]
    large = [diff_traces.Call("aten::mm", (10, 20), "gemm", (50, 10), [[8, 64], [64, 64]])]
    traces.add(diff_traces.trace(small, 100, 2), "small")
    text = json.dumps({"traceEvents": diff_traces.trace(large, 100, 3)})
    connection = traces.add(text[:-20], "large")
    found = warnings(connection, "small", "large")
    assert found.keys() == {"damaged files", "shapes", "steps", "unsteady steps"}
    assert found["shapes"] == ("0 % of calls", "0 % of calls")
    assert found["steps"] == ("2 steps (ProfilerStep)", "3 steps (ProfilerStep)")
    base, other = found["damaged files"]
    assert base is None
    assert str(other).startswith("truncated: ")


def test_every_condition_has_a_sentence_and_an_order(traces: Traces) -> None:
    """The two runs differ in every condition."""
    sides: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "base": (
            {"model": "flux", "batch": 1, "width": 64, "height": 32, "max_sequence_length": 8}
            | {"offload": "none", "dtype": "float32", "framework": "pytorch", "driver": "1"}
            | {"framework_version": "2.12.0", "diffusers_version": "1", "python_version": "3.11"},
            {"cuda_runtime_version": 1, "hip_runtime_version": 1, "with_stack": 1}
            | {"record_shapes": 1, "profile_memory": 1, "with_flops": 1, "with_modules": 1}
            | {"distributedInfo": {"rank": 0, "world_size": 2, "nccl_version": "1"}}
            | {"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}]},
        ),
        "other": (
            {"model": "sd", "batch": 2, "width": 64, "height": 64, "max_sequence_length": 9}
            | {"offload": "model", "dtype": "float16", "framework": "megengine", "driver": "2"}
            | {"framework_version": "1.13", "diffusers_version": "2", "python_version": "3.12"},
            {"cuda_runtime_version": 2, "hip_runtime_version": 2}
            | {"distributedInfo": {"rank": 0, "world_size": 4, "nccl_version": "2"}}
            | {"deviceProperties": [{"id": 0, "name": "NVIDIA A100"}]},
        ),
    }
    device = diff_traces.eager()
    host = [event for event in device if event.get("cat") == "cpu_op"]
    for (name, (run_json, metadata)), recorded in zip(sides.items(), (device, host), strict=True):
        directory = traces.directory / name
        directory.mkdir()
        trace = traces.write(recorded, name, **metadata)
        trace.rename(directory / "trace.json")
        if name == "base":
            again = json.loads((directory / "trace.json").read_text())
            again["distributedInfo"]["rank"] = 1
            (directory / "trace1.json").write_text(json.dumps(again))
        (directory / "run.json").write_text(json.dumps({"name": name, **run_json}))
        traces.store.add(directory)
    with ingest.connect(traces.store.path) as connection:
        subjects = connection.sql("SELECT DISTINCT subject FROM run_conditions").fetchall()
        found = list(warnings(connection, "base", "other"))  # fails if a subject has no sentence
    # Both runs have the same logic_version. test_versions.py tests different versions.
    assert {subject for (subject,) in subjects} - {"logic_version"} <= {*found}
    assert found[:4] == ["model", "batch", "image size", "sequence length"]
    assert found[-1] == "profiler: with_modules"


def test_settings_of_the_profiler_are_unknown_for_a_run_without_a_trace(
    traces: Traces, tmp_path: Path
) -> None:
    run(traces, "traced", {}, with_stack=1)
    logged = tmp_path / "logged"
    logged.mkdir()
    (logged / "run.compile.log").write_text(event("0/0", "B", "dynamo", 1e15))
    traces.store.add(logged)
    with ingest.connect(traces.store.path) as connection:
        assert "profiler: with_stack" not in warnings(connection, "traced", "logged")


def test_compilations_of_a_rank_with_two_devices_count_once(traces: Traces, tmp_path: Path) -> None:
    directory = tmp_path / "compiled"
    directory.mkdir()
    kernels = [
        events.kernel("k", 10, 20, "kernel", correlation=number) | {"args": {"device": number}}
        for number in (0, 1)
    ]
    op = events.host("aten::mm", "cpu_op", 0, 500)
    traces.write([op, *kernels], "two_devices").rename(directory / "trace.json")
    log = "".join(event("0/1", kind, "dynamo", at) for kind, at in (("B", 5), ("E", 105)))
    (directory / "run.compile.log").write_text(log)
    traces.store.add(directory)
    run(traces, "plain", {})
    with ingest.connect(traces.store.path) as connection:
        found = warnings(connection, "compiled", "plain")
        assert connection.sql("SELECT count(*) FROM run_totals").fetchall() == [(3,)]
    assert found["compiled while measured"] == ("1 (1 of them recompilations)", None)


def test_a_rank_without_a_device_counts_if_another_rank_has_one(
    traces: Traces, tmp_path: Path
) -> None:
    directory = tmp_path / "mixed"
    directory.mkdir()
    op = events.host("aten::mm", "cpu_op", 0, 500)
    kernel = events.kernel("k", 10, 20, correlation=1)
    for rank, recorded in enumerate(([op, kernel], [op])):
        of_rank = traces.write(recorded, f"rank{rank}", distributedInfo={"rank": rank})
        of_rank.rename(directory / f"rank{rank}.json")
    log = "".join(event("0/1", kind, "dynamo", at) for kind, at in (("B", 5), ("E", 105)))
    (directory / "rank1.compile.log").write_text(log)
    traces.store.add(directory)
    run(traces, "plain", {})
    with ingest.connect(traces.store.path) as connection:
        found = warnings(connection, "mixed", "plain")
    assert found["ranks"] == ("2", "1")
    assert found["compiled while measured"] == ("1 (1 of them recompilations)", None)

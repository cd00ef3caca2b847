"""Warnings about the comparability of runs: pairs of samples, and differences in run.json."""

import json
from typing import Any

import duckdb

import ingest
from tests.builders import diff_traces, events
from tests.builders.compile_logs import event
from tests.builders.relations import Relations, Run, built, ranks
from tests.helpers.samples import COMPILED, EAGER, Samples

Warnings = dict[str, tuple[str | None, str | None]]


def warnings(connection: duckdb.DuckDBPyConnection | Relations, base: str, other: str) -> Warnings:
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
    ("v100_resnet50_workers0", "v100_resnet50_workers4"): {},
    ("flux_eager_full", "h100_owlv2"): {
        "shapes": ("18 % of calls", "15 % of calls"),
        "dtype": ("float32", "bfloat16"),
        "measure": ("host", "device"),
        "steps": ("2 steps (annotation transformer_forward)", "1 step (ProfilerStep)"),
        "unsteady steps": ("2 steps", "1 step"),
    },
}


def test_warnings_of_sample_pairs(store_of_samples: duckdb.DuckDBPyConnection) -> None:
    found = {names: warnings(store_of_samples, *names) for names in PAIRS}
    assert found == PAIRS


def test_eager_and_compiled_runs_in_the_same_conditions_are_comparable(sampled: Samples) -> None:
    pair = EAGER, f"{COMPILED}-rank0"
    with ingest.connect(sampled.store(*pair)) as connection:
        assert warnings(connection, *pair) == {"unsteady steps": ("2 steps", "2 steps")}


def run(run_json: dict[str, Any], **metadata: Any) -> Run:
    """Return a run of the eager trace with this `run.json`."""
    recorded = {**metadata, "traceEvents": diff_traces.eager()}
    return Run({"trace.json": recorded, "run.json": run_json})


def test_conditions_of_run_json_and_the_trace_are_compared() -> None:
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
    base = {"mode": "eager", "offload": True}
    same = {"mode": "compiled", "offload": "model"}
    other = {
        "offload": "group",
        "batch": 4,
        "height": 64,
        "dtype": "bfloat16",
        "framework_version": "2.13.0",
    }
    connection = built(
        {
            "base": run(run_json | base, with_stack=1),
            "same": run(run_json | same, with_stack=1, seed=1),
            "other": run(run_json | other | {"model": None}, profile_memory=1),
        }
    )
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


def test_different_shapes_different_steps_and_damage_have_warnings() -> None:
    small = [diff_traces.Call("aten::mm", (10, 20), "gemm", (50, 10), [[2, 64], [64, 64]])]
    large = [diff_traces.Call("aten::mm", (10, 20), "gemm", (50, 10), [[8, 64], [64, 64]])]
    text = json.dumps({"traceEvents": diff_traces.trace(large, 100, 3)})
    connection = built(
        {"small": diff_traces.trace(small, 100, 2), "large": Run({"trace.json": text[:-20]})}
    )
    found = warnings(connection, "small", "large")
    assert found.keys() == {"damaged files", "shapes", "steps", "unsteady steps"}
    assert found["shapes"] == ("0 % of calls", "0 % of calls")
    assert found["steps"] == ("2 steps (ProfilerStep)", "3 steps (ProfilerStep)")
    base, other = found["damaged files"]
    assert base is None
    assert str(other).startswith("truncated: ")


def test_every_condition_has_a_sentence_and_an_order() -> None:
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
    runs = {}
    for (name, (run_json, metadata)), recorded in zip(sides.items(), (device, host), strict=True):
        trace = {**metadata, "traceEvents": recorded}
        runs[name] = Run({"trace.json": trace, "run.json": run_json})
    again = {**sides["base"][1], "traceEvents": device}
    again["distributedInfo"] = again["distributedInfo"] | {"rank": 1}
    runs["base"] = Run({**runs["base"].files, "trace1.json": again})
    connection = built(runs)
    subjects = connection.sql("SELECT DISTINCT subject FROM run_conditions").fetchall()
    found = list(warnings(connection, "base", "other"))  # fails if a subject has no sentence
    # Both runs have the same logic_version. test_versions.py tests different versions.
    assert {subject for (subject,) in subjects} - {"logic_version"} <= {*found}
    assert found[:4] == ["model", "batch", "image size", "sequence length"]
    assert found[-1] == "profiler: with_modules"


def test_settings_of_the_profiler_are_unknown_for_a_run_without_a_trace() -> None:
    log = event("0/0", "B", "dynamo", 1e15)
    runs = {"traced": run({}, with_stack=1), "logged": Run({"run.compile.log": log})}
    assert "profiler: with_stack" not in warnings(built(runs), "traced", "logged")


LOG = "".join(event("0/1", kind, "dynamo", at) for kind, at in (("B", 5), ("E", 105)))


def test_compilations_of_a_rank_with_two_devices_count_once() -> None:
    kernels = [
        events.kernel("k", 10, 20, "kernel", correlation=number) | {"args": {"device": number}}
        for number in (0, 1)
    ]
    op = events.host("aten::mm", "cpu_op", 0, 500)
    trace = {"traceEvents": [op, *kernels]}
    compiled = Run({"trace.json": trace, "run.compile.log": LOG})
    connection = built({"compiled": compiled, "plain": run({})})
    found = warnings(connection, "compiled", "plain")
    assert connection.sql("SELECT count(*) FROM run_totals").fetchall() == [(3,)]
    assert found["compiled while measured"] == ("1 (1 of them recompilations)", None)


def test_a_rank_without_a_device_counts_if_another_rank_has_one() -> None:
    op = events.host("aten::mm", "cpu_op", 0, 500)
    kernel = events.kernel("k", 10, 20, correlation=1)
    mixed = Run({**ranks(([op, kernel], [op])).files, "rank1.compile.log": LOG})
    found = warnings(built({"mixed": mixed, "plain": run({})}), "mixed", "plain")
    assert found["ranks"] == ("2", "1")
    assert found["compiled while measured"] == ("1 (1 of them recompilations)", None)

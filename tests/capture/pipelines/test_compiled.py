"""torch.compile: the compilations in run.json and in the compile log agree with the trace."""

import gzip
import json
import re

import pytest


def test_another_batch_in_the_warm_up_is_a_warning(recompiled):
    assert "may compile again inside the measured run" in recompiled.finished.stderr


def test_a_recompilation_is_reported_with_its_reason(recompiled):
    compilation = recompiled.run["compilation"]
    first, again = compilation["compilations"]

    assert (first["recompile"], first["in_measured_run"], first["reason"]) == (False, False, None)
    assert (again["recompile"], again["in_measured_run"]) == (True, True)
    # Guidance doubles the batch.
    assert "size mismatch at index 0. expected 4, actual 2" in again["reason"]
    assert again["reason"] in recompiled.finished.stderr
    assert (compilation["recompiles"], compilation["compiled_in_measured_run"]) == (1, 1)
    assert compilation["seconds"] == pytest.approx(first["seconds"] + again["seconds"])
    assert 0 < again["seconds"] * 1e9 < recompiled.run["profiled_wall_time_ns"]
    assert compilation["phases_seconds"]["_compile.compile_inner"] > 0
    assert compilation["graphs"] == 2


def test_the_trace_agrees_with_the_compilations(recompiled):
    ids = {e["name"] for e in recompiled.named(r"Torch-Compiled Region: .*")}
    again = recompiled.run["compilation"]["compilations"][1]
    (compiling,) = recompiled.named(
        r"_compile\.compile_inner \(dynamo_timed\)|entire_frame_compile"
    )[:1]

    assert ids == {f"Torch-Compiled Region: {again['compile_id']}"}
    assert compiling["dur"] / 1e6 == pytest.approx(again["seconds"], rel=0.2)
    assert recompiled.steps == ["ProfilerStep#0", "ProfilerStep#1"]
    assert recompiled.run["mode"] == "compiled"
    assert recompiled.run["compile"] == {
        "part": "transformer",
        "blocks": None,
        "mode": None,
        "fullgraph": False,
        "dynamic": None,
        "regional": False,
    }
    assert recompiled.run["warmup_inputs"] == {"batch": 2}


def test_a_missing_time_has_a_reason(recompiled):
    assert "wall_time_ns" not in recompiled.run
    assert "may have compiled again" in recompiled.run["missing"]["wall_time_ns"]


def test_the_compile_log_has_the_origin_of_kernels(side_by_side):
    _, compiled = side_by_side
    (path,) = compiled.directory.glob("*.compile.log.gz")
    assert path.name == "wan-tiny-compiled-rank0.compile.log.gz"
    text = gzip.decompress(path.read_bytes()).decode()

    records = [json.loads(found) for found in re.findall(r"^V\d{4} .*?\] (\{.*\})$", text, re.M)]
    artifacts = {record["artifact"]["name"] for record in records if "artifact" in record}
    assert "inductor_provenance_tracking_node_mappings" in artifacts
    kernels = {e["name"].partition("cpp_fused")[1] for e in compiled.events if "name" in e}
    assert "cpp_fused" in kernels  # named in the trace, too


def test_eager_and_compiled_runs_have_the_same_inputs(side_by_side):
    eager, compiled = (captured.run for captured in side_by_side)

    assert (eager["mode"], compiled["mode"]) == ("eager", "compiled")
    assert compiled["compilation"]["compiled_in_measured_run"] == 0
    assert "compilation" not in eager
    same = ("prompt", "seed", "batch", "height", "width", "steps", "dtype", "pipeline")
    assert [eager[key] for key in same] == [compiled[key] for key in same]
    assert compiled["wall_time_ns"] < sum(compiled["warmup_times_ns"])

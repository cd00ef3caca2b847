"""Real captures of the tiny FLUX pipeline: what the trace shows, what run.json says of it."""

import gzip
import json
import re
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from capture.denoising import Inputs
from capture.errors import CaptureError
from capture.profile import ProfilerOptions
from capture.record import record
from capture.run_json import RunJson


@dataclass(frozen=True)
class Captured:
    """A run directory as it was read, and what the command said."""

    directory: Path
    stdout: str
    run: dict[str, Any]
    events: list[dict[str, Any]]

    def named(self, pattern: str) -> list[dict[str, Any]]:
        """Complete events whose whole name matches, in order of time."""
        found = [e for e in self.events if e["ph"] == "X" and re.fullmatch(pattern, e["name"])]
        return sorted(found, key=lambda event: event["ts"])


def read_events(directory: Path) -> list[dict[str, Any]]:
    (trace,) = directory.glob("*.trace.json.gz")
    with gzip.open(trace, "rt") as file:
        return json.load(file)["traceEvents"]


def inside(event: dict[str, Any], outer: dict[str, Any]) -> bool:
    return outer["ts"] <= event["ts"] and end(event) <= end(outer)


def end(event: dict[str, Any]) -> float:
    return event["ts"] + event["dur"]


@pytest.fixture(scope="session")
def captured(capture_extra, run_capture, tmp_path_factory) -> Captured:
    """`capture flux --tiny` with three steps and a batch of two."""
    directory = tmp_path_factory.mktemp("capture") / "first light"
    finished = run_capture(
        "flux", "--tiny", "--out", str(directory), "--steps", "3", "--batch", "2"
    )
    assert finished.returncode == 0, finished.stderr
    run = json.loads((directory / "run.json").read_text())
    return Captured(directory, finished.stdout, run, read_events(directory))


def test_stdout_is_the_run_directory_and_nothing_else(captured):
    assert captured.stdout == f"{captured.directory}\n"


def test_the_run_directory_holds_a_small_trace_and_run_json(captured):
    files = {path.name: path.stat().st_size for path in captured.directory.iterdir()}

    assert files.keys() == {"first light-rank0.trace.json.gz", "run.json"}
    assert files["first light-rank0.trace.json.gz"] < 3e6


def test_each_denoising_step_is_a_profiler_step(captured):
    steps = captured.named(r"ProfilerStep#\d+")

    assert [step["name"] for step in steps] == [f"ProfilerStep#{n}" for n in range(3)]
    assert {step["cat"] for step in steps} == {"user_annotation"}
    for step in steps:
        forwards = captured.named(r"nn\.Module: FluxTransformer2DModel_\d+")
        assert sum(inside(forward, step) for forward in forwards) == 1


def test_text_encoding_and_decoding_are_beside_the_steps(captured):
    (encoding,) = captured.named("text_encoding")
    (decoding,) = captured.named("vae_decoding")
    steps = captured.named(r"ProfilerStep#\d+")

    assert end(encoding) <= steps[0]["ts"]
    assert end(steps[-1]) <= decoding["ts"]
    ops = captured.named(r"aten::.*")
    for stage in (encoding, *steps, decoding):
        assert any(inside(op, stage) for op in ops)


def test_ops_have_shapes_of_the_batch(captured):
    step = captured.named("ProfilerStep#1")[0]
    shapes = [
        op["args"]["Input Dims"][0] for op in captured.named("aten::linear") if inside(op, step)
    ]

    assert shapes
    assert {shape[0] for shape in shapes} == {2}


def test_run_json_describes_the_run(captured):
    run = captured.run

    assert run.keys() == {field.name for field in fields(RunJson)}
    expected = {
        "name": "first light",
        "model": "flux-tiny",
        "pipeline": "FluxPipeline",
        "mode": "eager",
        "dtype": "float32",
        "framework": "pytorch",
        "batch": 2,
        "height": 64,
        "width": 64,
        "steps": 3,
        "seed": 0,
        "warmup": 1,
        "tags": {},
    }
    assert {key: run[key] for key in expected} == expected
    assert run["arguments"]["command"] == "flux"
    assert run["arguments"]["batch"] == 2
    assert run["arguments"]["with_stack"] is True
    assert all(run[key] for key in ("device", "device_name", "framework_version"))


def test_run_json_has_times_without_the_profiler(captured):
    run = captured.run
    profiled_ns = sum(step["dur"] * 1000 for step in captured.named(r"ProfilerStep#\d+"))

    assert len(run["step_times_ns"]) == run["steps"]
    assert 0 < sum(run["step_times_ns"]) < run["wall_time_ns"]
    assert profiled_ns < run["profiled_wall_time_ns"]
    assert len(run["warmup_times_ns"]) == 1
    assert run["warmup_times_ns"][0] > 0
    started_at = datetime.fromisoformat(run["started_at"])
    assert timedelta(0) < datetime.now(UTC) - started_at < timedelta(hours=1)


def test_a_notebook_can_record_less(capture_extra, tmp_path):
    from capture.pipelines.flux import tiny_flux

    pipeline = tiny_flux(seed=7)
    run = record(
        pipeline,
        tmp_path,
        model="mine",
        inputs=Inputs(prompt="ünïcode", steps=1, height=32, seed=7),
        warmup=0,
        options=ProfilerOptions(record_shapes=False, with_stack=False),
    )

    events = read_events(tmp_path)
    assert [e["name"] for e in events if "ProfilerStep" in e["name"]] == ["ProfilerStep#0"]
    assert not any(e.get("cat") == "python_function" for e in events)
    assert not any("Input Dims" in e.get("args", {}) for e in events)
    assert (run.warmup_times_ns, len(run.step_times_ns), run.arguments) == ([], 1, {})
    assert json.loads((tmp_path / "run.json").read_text())["prompt"] == "ünïcode"


def test_a_size_that_the_pipeline_would_round_is_refused(capture_extra, tmp_path):
    from capture.pipelines.flux import tiny_flux

    with pytest.raises(CaptureError, match="multiples of 4"):
        record(tiny_flux(), tmp_path / "run", model="mine", inputs=Inputs(width=65))

    assert not (tmp_path / "run").exists()


def test_every_key_of_run_json_is_documented():
    documented = re.findall(r"^    (\w+(?:, \w+)*) {2,}", RunJson.__doc__ or "", re.MULTILINE)

    keys = [key for line in documented for key in line.split(", ")]
    assert sorted(keys) == sorted(field.name for field in fields(RunJson))

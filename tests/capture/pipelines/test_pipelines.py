"""Runs of tiny pipelines: the content of their traces and of run.json."""

import json
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

import pytest

from capture import Profiler
from capture.errors import CaptureError
from capture.output.run_json import KEYS
from capture.pipelines.calls import Inputs
from capture.pipelines.load import load
from capture.pipelines.record import record
from tests.capture.captured import Captured


def inside(event: dict[str, Any], outer: dict[str, Any]) -> bool:
    return outer["ts"] <= event["ts"] and end(event) <= end(outer)


def end(event: dict[str, Any]) -> float:
    return event["ts"] + event["dur"]


def test_stdout_is_the_run_directory_and_nothing_else(captured):
    assert captured.finished.stdout == f"{captured.directory}\n"


def test_the_run_directory_contains_a_small_trace_and_descriptions(captured):
    files = {path.name: path.stat().st_size for path in captured.directory.iterdir()}

    assert files.keys() == {"first light-rank0.trace.json.gz", "run.json", "rank0.json"}
    assert files["first light-rank0.trace.json.gz"] < 3e6


def test_the_default_of_three_steps_is_reported(captured):
    assert "3 denoising steps" in captured.finished.stderr
    assert captured.run["steps"] == 3


def test_each_denoising_step_is_a_profiler_step(captured):
    steps = captured.named(r"ProfilerStep#\d+")

    assert captured.steps == [f"ProfilerStep#{n}" for n in range(3)]
    assert {step["cat"] for step in steps} == {"user_annotation"}
    for step in steps:
        forwards = captured.named(r"nn\.Module: FluxTransformer2DModel_\d+")
        assert sum(inside(forward, step) for forward in forwards) == 1


def test_the_stages_of_a_call_contain_its_steps_and_blocks(captured):
    (call,) = captured.named("pipeline: FluxPipeline")
    (encoding,) = captured.named("stage: encode")
    (denoising,) = captured.named("stage: denoise")
    (decoding,) = captured.named("stage: decode")
    steps = captured.named(r"ProfilerStep#\d+")

    assert end(encoding) <= denoising["ts"]
    assert end(denoising) <= decoding["ts"]
    assert all(inside(stage, call) for stage in (encoding, denoising, decoding))
    for step in steps:
        assert inside(step, denoising)
        for name in ("FluxTransformerBlock", "FluxSingleTransformerBlock"):
            blocks = captured.named(f"block: {name}")
            assert sum(inside(block, step) for block in blocks) == 2
    ops = captured.named(r"aten::.*")
    for stage in (encoding, *steps, decoding):
        assert any(inside(op, stage) for op in ops)


def test_ops_have_the_shapes_of_the_batch(captured):
    step = captured.named("ProfilerStep#1")[0]
    shapes = [
        op["args"]["Input Dims"][0] for op in captured.named("aten::linear") if inside(op, step)
    ]

    assert shapes
    assert {shape[0] for shape in shapes} == {2}


def test_run_json_describes_the_run(captured):
    expected = {
        "name": "first light",
        "model": "flux-tiny",
        "pipeline": "FluxPipeline",
        "mode": "eager",
        "dtype": "float32",
        "framework": "pytorch",
        "rank": 0,
        "world_size": 1,
        "batch": 2,
        "height": 64,
        "width": 64,
        "steps": 3,
        "seed": 0,
        "warmup": 1,
        "warmup_batch": 2,
    }

    assert captured.run.keys() <= KEYS.keys()
    assert {key: captured.run[key] for key in expected} == expected
    assert captured.run["arguments"]["command"] == "flux"
    assert captured.run["profiler"]["with_stack"] is True
    assert all(captured.run[key] for key in ("device", "device_name", "framework_version"))
    assert captured.run["memory"][-1]["peak_rss_bytes"] > 1e8
    assert json.loads((captured.directory / "rank0.json").read_text()) == captured.run


def test_run_json_has_times_with_and_without_the_profiler(captured):
    run = captured.run
    marked_ns = [step["dur"] * 1000 for step in captured.named(r"ProfilerStep#\d+")]

    assert len(run["step_times_ns"]) == len(run["profiled_step_times_ns"]) == run["steps"]
    assert min(run["step_times_ns"]) > 0  # measured in a separate call, which waits after each step
    assert run["wall_time_ns"] == median(run["wall_times_ns"])
    # A mark begins before the clock of its step and ends after it. If another process interrupts
    # this one in between, the mark is longer, but hardly in all steps.
    longer = [mark / ns for mark, ns in zip(marked_ns, run["profiled_step_times_ns"], strict=True)]
    assert 0.99 < min(longer) < 1.2
    assert sum(marked_ns) < run["profiled_wall_time_ns"]
    assert len(run["warmup_times_ns"]) == 1
    started_at = datetime.fromisoformat(run["started_at"])
    assert timedelta(0) < datetime.now(UTC) - started_at < timedelta(hours=1)


@pytest.mark.parametrize(
    ("kind", "pipeline", "denoiser"),
    [
        ("sd3", "StableDiffusion3Pipeline", "SD3Transformer2DModel"),
        ("sdxl", "StableDiffusionXLPipeline", "UNet2DConditionModel"),
        ("ltx", "LTXPipeline", "LTXVideoTransformer3DModel"),
        ("diffusers", "StableDiffusionPipeline", "UNet2DConditionModel"),
    ],
)
def test_other_pipelines_have_steps_too(kind, pipeline, denoiser, run_loaded_capture, tmp_path):
    out = ["--out", str(tmp_path / kind), "--profile-with-stack"]
    finished = run_loaded_capture(kind, "--tiny", "--steps", "2", "--warmup", "0", *out)

    assert finished.returncode == 0, finished.stderr
    captured = Captured.read(tmp_path / kind)
    assert captured.run["pipeline"] == pipeline
    assert captured.steps == ["ProfilerStep#0", "ProfilerStep#1"]
    for step in captured.named(r"ProfilerStep#\d+"):
        forwards = captured.named(rf"nn\.Module: {denoiser}_\d+")
        assert sum(inside(forward, step) for forward in forwards) == 1


def test_the_frames_of_a_video_are_saved(run_loaded_capture, tmp_path):
    """Wan runs its denoiser twice per step, and returns frames as arrays."""
    out = ["--out", str(tmp_path / "run"), "--profile-with-stack", "--save"]
    given = ["--steps", "2", "--height", "32", "--warmup", "0"]
    finished = run_loaded_capture("wan", "--tiny", *given, *out)

    assert finished.returncode == 0, finished.stderr
    captured = Captured.read(tmp_path / "run")
    assert [captured.run[key] for key in ("pipeline", "frames")] == ["WanPipeline", 5]
    assert len(captured.named(r"nn\.Module: WanTransformer3DModel_\d+")) == 4
    images = sorted((tmp_path / "run").glob("*.png"))
    assert [path.name for path in images] == [f"video-0-frame-{n:03}.png" for n in range(5)]
    from PIL import Image

    assert Image.open(images[0]).size == (64, 32)


def test_a_schedule_applies_to_denoising_steps(run_loaded_capture, tmp_path):
    finished = run_loaded_capture(
        *(
            "flux",
            "--tiny",
            "--steps",
            "6",
            "--warmup",
            "0",
            "--profile-dir",
            str(tmp_path / "run"),
        ),
        *("--profile-wait", "1", "--profile-active", "2", "--no-profile-with-stack"),
    )

    assert finished.returncode == 0, finished.stderr
    captured = Captured.read(tmp_path / "run")
    # A wait step and a warm-up step come first.
    assert captured.steps == ["ProfilerStep#2", "ProfilerStep#3"]
    assert captured.named("(pipeline|stage): .*") == []  # these began before the recording
    assert captured.run["warmup_times_ns"] == []
    assert len(captured.run["profiled_step_times_ns"]) == 6


def test_a_model_is_loaded_from_its_directory(run_loaded_capture, tmp_path):
    from capture.pipelines.sd import tiny_sd

    tiny_sd().save_pretrained(tmp_path / "model")
    finished = run_loaded_capture(
        *("diffusers", "--model", str(tmp_path / "model"), "--no-profile", "--steps", "2"),
        *("--height", "32", "--width", "32", "--dtype", "bfloat16"),
    )

    assert finished.returncode == 0, finished.stderr
    assert "per call" in finished.stdout  # --no-profile prints only times
    assert sorted(tmp_path.iterdir()) == [tmp_path / "model"]


def test_record_accepts_a_profiler_that_records_less(capture_extra, tmp_path):
    from capture.pipelines.flux import tiny_flux

    run = record(
        tiny_flux(seed=7),
        Profiler(output_dir=tmp_path, name="mine", record_shapes=False, with_stack=False),
        model="mine",
        inputs=Inputs(prompt="ünïcode", steps=1, height=32, seed=7),
        warmup=0,
    )

    captured = Captured.read(tmp_path)
    assert captured.steps == ["ProfilerStep#0"]
    assert not any(e.get("cat") == "python_function" for e in captured.events)
    assert not any("Input Dims" in e.get("args", {}) for e in captured.events)
    assert run == captured.run
    assert (run["warmup_times_ns"], len(run["step_times_ns"]), run["prompt"]) == ([], 1, "ünïcode")
    assert "arguments" not in run


@pytest.mark.parametrize(
    ("kind", "size", "message"),
    [
        ("flux", {"width": 65}, "multiples of 4"),
        ("wan", {"width": 72}, "multiples of 16"),
        ("wan", {"frames": 4}, "4 frames: must be one more than a multiple of 4"),
        ("ltx", {"height": 48}, "multiples of 32"),
        ("ltx", {"frames": 5}, "5 frames: must be one more than a multiple of 8"),
    ],
)
def test_a_size_that_the_pipeline_would_round_is_refused(
    kind, size, message, capture_extra, tmp_path
):
    profiler = Profiler(output_dir=tmp_path / "run")
    with pytest.raises(CaptureError, match=message):
        record(load(kind, None), profiler, model="mine", inputs=Inputs(**size))

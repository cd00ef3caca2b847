"""`Profiler` in scripts: its recordings, schedules, files and errors."""

import argparse
import asyncio
import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from capture import (
    CaptureError,
    CaptureWarning,
    MemoryTracker,
    Profiler,
    ProfilerContext,
    add_profiler_arguments,
    create_profiler_from_args,
    profile_function,
)
from tests.capture.captured import Captured, events

pytestmark = pytest.mark.usefixtures("capture_extra")


@pytest.fixture
def work():
    """A forward pass of a small model."""
    import torch

    model = torch.nn.Linear(4, 4)
    return lambda: model(torch.ones(2, 4))


def steps(profiler: Profiler, work, count: int) -> None:
    """Record this number of steps."""
    with profiler:
        for _ in range(count):
            work()
            profiler.step()


def files(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_a_body_without_steps_is_recorded_completely(work, tmp_path):
    with Profiler(output_dir=tmp_path, name="mine", with_stack=False) as profiler:
        work()

    assert files(tmp_path) == {"mine-rank0.trace.json.gz", "run.json", "rank0.json"}
    assert profiler.output_dir / profiler.trace_path.name == profiler.trace_path
    captured = Captured.read(tmp_path)
    assert captured.named("aten::linear")
    assert captured.run["profiled_wall_time_ns"] > 0
    linear = [row for row in profiler.key_averages() if row.key == "aten::linear"]
    assert linear[0].count == 1


def test_a_disabled_profiler_does_nothing(work, tmp_path):
    with Profiler(False, activities=["GPU", "MEM"], output_dir=tmp_path / "run") as profiler:
        work()
        profiler.step()

    assert not (tmp_path / "run").exists()
    assert (profiler.step_num, profiler.trace_path) == (0, None)


@pytest.mark.parametrize(
    ("schedule", "steps", "recorded"),
    [
        ({}, 2, [[0, 1]]),  # work after the last step is not a step
        ({"active": 2}, 5, [[0, 1]]),
        ({"warmup": 1, "active": 3}, 9, [[1, 2, 3]]),
        ({"wait": 1, "warmup": 1, "active": 2, "repeat": 2}, 9, [[2, 3], [6, 7]]),
        ({"skip_first": 2, "warmup": 1, "active": 1, "repeat": 0}, 6, [[3], [5]]),
        ({"active": 2, "repeat": 0}, 4, [[0, 1], [2, 3]]),  # step 4 has no trace: it only began
        ({"warmup": 1, "active": 2, "repeat": 0}, 4, [[1, 2]]),
        # The body ends early, and the trace has its steps.
        ({"warmup": 1, "active": 9}, 3, [[1, 2]]),
        ({"warmup": 1, "active": 3}, 0, [[0]]),  # a body without steps is recorded completely
    ],
)
def test_a_schedule_selects_the_recorded_steps(schedule, steps, recorded, work, tmp_path):
    options = {"with_stack": False, "hook_pipelines": False, **schedule}
    with Profiler(output_dir=tmp_path, name="s", **options) as profiler:
        for _ in range(steps):
            work()
            profiler.step()
        work()

    traces = sorted(tmp_path.glob("*.trace.json.gz"))
    marks = [
        sorted(int(e["name"][13:]) for e in events(trace) if e["name"].startswith("ProfilerStep#"))
        for trace in traces
    ]
    assert marks == recorded
    numbered = schedule.get("repeat", 1) != 1
    assert [trace.name for trace in traces] == [
        f"s-rank0-cycle{number}.trace.json.gz" if numbered else "s-rank0.trace.json.gz"
        for number in range(1, len(recorded) + 1)
    ]
    assert profiler.step_num == steps
    assert len(Captured.read(tmp_path).run.get("profiled_step_times_ns", [])) == steps


def test_a_clock_that_is_set_during_the_recording_is_a_warning(tmp_path, monkeypatch):
    now_ns = time.time_ns
    profiler = Profiler(output_dir=tmp_path, name="mine", with_stack=False)
    profiler.__enter__()
    monkeypatch.setattr(time, "time_ns", lambda: now_ns() - 2_000_000_000)
    with pytest.warns(CaptureWarning, match="set back by 2 s .* stretched"):
        profiler.__exit__(None, None, None)

    assert list(Captured.read(tmp_path).run["missing"]) == ["steady_clock"]


def test_a_schedule_that_records_nothing_is_a_warning(work, tmp_path):
    profiler = Profiler(output_dir=tmp_path, skip_first=3, active=1)
    with pytest.warns(CaptureWarning, match="none of the 2 steps"):
        steps(profiler, work, 2)

    assert files(tmp_path) == {"run.json", "rank0.json"}
    assert "none of the 2 steps" in Captured.read(tmp_path).run["missing"]["trace"]


@pytest.mark.parametrize("wrong", [{"active": 0}, {"wait": -1, "active": 1}, {"warmup": 2}])
def test_an_invalid_schedule_is_refused(wrong):
    with pytest.raises(CaptureError, match="schedule"):
        Profiler(**wrong)


def test_labels_with_quotes_leave_the_trace_valid(work, tmp_path):
    import torch

    with Profiler(output_dir=tmp_path), torch.profiler.record_function('a "quoted"\n\\ label'):
        work()

    assert Captured.read(tmp_path).named("a 'quoted' / label")


def test_a_failing_body_keeps_its_recording(work, tmp_path):
    def fail() -> None:
        work()
        raise RuntimeError("mine, with token=hf_abcdefghijklmnopqrstuv")

    with pytest.raises(RuntimeError, match="mine"):
        steps(Profiler(output_dir=tmp_path, name="f"), fail, 1)

    captured = Captured.read(tmp_path)
    assert captured.named("aten::linear")
    assert captured.run["error"] == "RuntimeError: mine, with token=[redacted]"


def test_a_directory_that_cannot_be_created_is_an_error(work, tmp_path):
    (tmp_path / "file").write_text("mine")

    with pytest.raises(CaptureError, match="cannot create the directory"):
        steps(Profiler(output_dir=tmp_path / "file" / "run"), work, 1)


def test_a_second_run_gets_another_directory(work, tmp_path):
    directories = []
    for _ in range(3):
        with Profiler(output_dir=tmp_path / "run", name="n", with_stack=False) as profiler:
            work()
        directories.append(profiler.output_dir.name)

    assert directories == ["run", "run-2", "run-3"]


def test_environment_variables_set_the_directory_of_runs(work, tmp_path, monkeypatch):
    monkeypatch.setenv("CACHE_DIT_TORCH_PROFILER_DIR", str(tmp_path / "theirs"))
    with Profiler(name="a/b", with_stack=False) as first:
        work()
    monkeypatch.setenv("TRACEHOUSE_PROFILE_DIR", str(tmp_path / "ours"))
    with Profiler(name="a/b", with_stack=False) as second:
        work()

    assert first.output_dir == tmp_path / "theirs" / "a_b"
    assert second.output_dir == tmp_path / "ours" / "a_b"


def test_missing_devices_are_a_warning(work, tmp_path):
    import torch

    if torch.accelerator.is_available():
        pytest.skip("there is an accelerator here")
    profiler = Profiler(activities=("CPU", "GPU", "MEM"), output_dir=tmp_path)
    with pytest.warns(CaptureWarning) as warned:
        steps(profiler, work, 1)

    assert {warning.filename for warning in warned} == {__file__}
    missing = Captured.read(tmp_path).run["missing"]
    assert missing.keys() == {"gpu", "memory_snapshot"}
    assert all(any(why in str(w.message) for w in warned) for why in missing.values())
    assert Captured.read(tmp_path).named("aten::linear")


def test_memory_alone_needs_no_trace(work, tmp_path):
    import torch

    if torch.accelerator.is_available():
        pytest.skip("there is an accelerator here")
    profiler = Profiler(activities=["MEM"], output_dir=tmp_path)
    with pytest.warns(CaptureWarning, match="CUDA"):
        steps(profiler, work, 1)

    assert files(tmp_path) == {"run.json", "rank0.json"}
    with pytest.raises(CaptureError, match="no trace"):
        profiler.key_averages()


def test_a_callback_is_called_for_each_trace_and_may_fail(work, tmp_path):
    written = []

    def ready(profiler: Profiler) -> None:
        # Scripts for torch's profiler export traces like this.
        profiler.export_chrome_trace(str(tmp_path / f"{len(written)}.json"))
        written.append(profiler.trace_path.name)
        raise ZeroDivisionError

    profiler = Profiler(output_dir=tmp_path / "run", name="c", active=1, on_trace_ready=ready)
    with pytest.raises(ZeroDivisionError):
        steps(profiler, work, 2)

    assert written == ["c-rank0.trace.json.gz"]
    assert files(tmp_path / "run") == {"c-rank0.trace.json.gz", "run.json", "rank0.json"}


def test_described_values_become_json_values(work, tmp_path):
    import torch

    profiler = Profiler(output_dir=tmp_path, activities="cpu", with_stack=False)
    profiler.describe(steps=torch.tensor(3), seed=float("nan"), tags={"a": float("inf")})
    steps(profiler, work, 1)

    run = Captured.read(tmp_path).run
    assert (run["steps"], run.get("seed"), run["tags"]) == (3, None, {"a": None})
    assert run["profiler"]["activities"] == ["CPU"]


def test_another_profiler_inside_ends_the_recording_with_a_warning(work, tmp_path):
    import torch

    profiler = Profiler(output_dir=tmp_path, with_stack=False)

    def profile_too() -> None:
        with torch.profiler.profile():
            work()

    with pytest.warns(CaptureWarning, match="another torch profiler"):
        steps(profiler, profile_too, 2)

    assert "another torch profiler" in Captured.read(tmp_path).run["missing"]["trace"]


def test_a_forked_child_leaves_the_run_to_its_parent(work, tmp_path):
    with Profiler(output_dir=tmp_path, with_stack=False) as profiler:
        child = os.fork()
        if not child:
            profiler.__exit__(None, None, None)
            os._exit(0)
        os.waitpid(child, 0)
        assert files(tmp_path) == set()
        work()

    assert Captured.read(tmp_path).named("aten::linear")


def test_only_one_profiler_runs_at_a_time(work, tmp_path):
    with Profiler(output_dir=tmp_path / "outer"):
        with pytest.raises(CaptureError, match="one at a time"):
            Profiler(output_dir=tmp_path / "inner").__enter__()
        work()

    assert Captured.read(tmp_path / "outer").named("aten::linear")


def test_a_pipelines_steps_are_steps(tmp_path):
    from capture.pipelines.calls import Inputs, generate
    from capture.pipelines.flux import tiny_flux

    pipeline = tiny_flux()
    with Profiler(output_dir=tmp_path, with_stack=False) as profiler:
        for _ in range(2):
            generate(pipeline, Inputs(steps=2, height=32, width=32, max_sequence_length=16))

    assert profiler.step_num == 4
    assert Captured.read(tmp_path).steps == [f"ProfilerStep#{number}" for number in range(4)]


def test_a_pipeline_that_fails_within_a_step_keeps_that_step(tmp_path):
    from capture.pipelines.calls import Inputs, generate
    from capture.pipelines.flux import tiny_flux

    pipeline = tiny_flux()
    forward, calls = pipeline.transformer.forward, []

    def fail_later(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise MemoryError("of the second step")
        return forward(*args, **kwargs)

    pipeline.transformer.forward = fail_later
    profiler = Profiler(output_dir=tmp_path, with_stack=False)
    with pytest.raises(MemoryError), profiler:
        generate(pipeline, Inputs(steps=3, height=32, width=32, max_sequence_length=16))

    captured = Captured.read(tmp_path)
    assert profiler.step_num == len(captured.run["profiled_step_times_ns"]) == 1
    assert captured.steps == ["ProfilerStep#0", "ProfilerStep#1"]  # the second one had begun
    assert "missing" not in captured.run
    assert captured.run["error"] == "MemoryError: of the second step"


def test_a_late_device_error_is_the_error_of_the_run(work, tmp_path, monkeypatch):
    from capture.recording import body as module

    profiler = Profiler(output_dir=tmp_path, with_stack=False)

    def fail(_: object) -> None:
        raise RuntimeError("an illegal access")

    def work_and_fail() -> None:
        work()
        monkeypatch.setattr(module, "synchronize", fail)

    with pytest.raises(RuntimeError, match="an illegal access"):
        steps(profiler, work_and_fail, 1)

    captured = Captured.read(tmp_path)
    assert captured.named("aten::linear")
    assert captured.run["error"] == "RuntimeError: an illegal access"
    monkeypatch.undo()
    with Profiler(output_dir=tmp_path / "next", with_stack=False):
        work()  # torch's profiler can be used again


def test_flags_make_a_profiler(work, tmp_path):
    parser = argparse.ArgumentParser()
    add_profiler_arguments(parser)
    asked = ["--profile", "--profile-dir", str(tmp_path), "--profile-name", "flagged"]
    args = parser.parse_args([*asked, "--no-profile-with-stack", "--profile-active", "2"])

    with create_profiler_from_args(args) as profiler:
        for _ in range(5):
            work()
            profiler.step()

    captured = Captured.read(tmp_path)
    assert captured.steps == ["ProfilerStep#1", "ProfilerStep#2"]
    assert captured.run["profiler"]["warmup"] == 1
    assert captured.run["profiler"]["with_stack"] is False
    assert not create_profiler_from_args(parser.parse_args([])).enabled
    named = create_profiler_from_args(argparse.Namespace(profile=True), profile_name="x")
    assert (named.name, named.schedule.active) == ("x", 3)


def test_profiler_context_has_the_parameters_of_cache_dit(work, tmp_path):
    with ProfilerContext(
        enabled=True,
        activities=["CPU"],
        output_dir=str(tmp_path),
        profile_name="theirs",
        with_stack=True,
        record_shapes=True,
    ) as profiler:
        work()

    assert profiler.trace_path.name == "theirs-rank0.trace.json.gz"


def test_a_function_is_recorded_at_each_call(work, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEHOUSE_PROFILE_DIR", str(tmp_path))

    @profile_function(with_stack=False)
    def again(times: int) -> int:
        """What it does."""
        work()
        return times and again(times - 1)

    @profile_function(profile_name="later", with_stack=False)
    async def later(value: int) -> int:
        await asyncio.sleep(0)
        work()
        return value

    class Model:
        @profile_function(with_stack=False)
        def forward(self) -> str:
            work()
            return type(self).__name__

    assert (again.__name__, again.__doc__) == ("again", "What it does.")
    assert (again(2), again(0)) == (0, 0)
    with ThreadPoolExecutor(1) as thread:  # a test in a browser leaves a loop running in this one
        assert thread.submit(asyncio.run, later(3)).result() == 3
    assert Model().forward() == "Model"
    base = "test_a_function_is_recorded_at_each_call"
    expected = {f"{base}.again", f"{base}.again-2", "later", f"{base}.Model.forward"}
    assert files(tmp_path) == expected
    whole = Captured.read(tmp_path / f"{base}.again")
    assert len(whole.named("aten::linear")) == 3  # including the calls inside
    with pytest.raises(TypeError, match="generator"):
        profile_function()(lambda: (yield))
    assert profile_function(enabled=False)(work) is work
    assert profile_function(work).__name__ == work.__name__
    with pytest.raises(TypeError, match="below @classmethod"):
        profile_function()(classmethod(work))


def test_peaks_of_memory_are_tracked(capsys):
    with MemoryTracker() as tracker:
        held = bytearray(os.urandom(1 << 20) * 64)
        del held

    host = tracker.peaks[-1]
    assert host["device"] == "host"
    assert host.get("missing") or host["peak_rss_bytes"] > 64 << 20
    assert tracker.report() in capsys.readouterr().out


def test_a_trace_that_grows_too_large_is_an_early_warning(monkeypatch):
    from capture.recording import trace_size
    from capture.recording.schedule import Schedule

    held = iter(range(0, 100 << 30, 300 << 20))  # 300 MiB per step
    monkeypatch.setattr(trace_size, "rss_bytes", lambda: next(held))
    size = trace_size.TraceSize(Schedule(warmup=1, active=5), True, True)
    next(held)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        size.check(0)  # this step is not recorded
    with pytest.warns(CaptureWarning, match="GiB of JSON"):
        size.check(1)

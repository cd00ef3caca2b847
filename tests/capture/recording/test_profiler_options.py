"""The options of torch's profiler work in `Profiler`, too."""

import argparse
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

import ingest
from capture import CaptureError, Profiler, add_profiler_arguments, create_profiler_from_args
from tests.capture.captured import Captured

pytestmark = pytest.mark.usefixtures("capture_extra")


def recorded(work, directory: Path, steps: int = 1, **options: Any) -> Profiler:
    """Record a run with this number of steps."""
    with Profiler(output_dir=directory, name="mine", **options) as profiler:
        for _ in range(steps):
            work()
            profiler.step()
    return profiler


def from_flags(*flags: str) -> Profiler:
    parser = argparse.ArgumentParser()
    add_profiler_arguments(parser)
    return create_profiler_from_args(parser.parse_args(["--profile", *flags]))


def test_allocations_are_recorded(work, tmp_path):
    recorded(work, tmp_path, profile_memory=True)
    assert any(event["name"] == "[memory]" for event in Captured.read(tmp_path).events)


def test_floating_point_operations_are_counted(work, tmp_path):
    profiler = recorded(work, tmp_path, with_flops=True)
    [addmm] = [row for row in profiler.key_averages() if row.key == "aten::addmm"]
    assert addmm.flops == 2 * 2 * 4 * 4


def test_events_of_all_cycles_are_kept(work, tmp_path):
    cycles = {"wait": 0, "warmup": 1, "active": 1, "repeat": 2}
    counts = []
    for name, keeps in (("last", False), ("all", True)):
        profiler = recorded(work, tmp_path / name, 5, acc_events=keeps, **cycles)
        rows = profiler.key_averages()
        counts.append(sum(row.count for row in rows if row.key == "aten::linear"))
    assert counts == [1, 2]


def test_acc_events_with_frames_is_refused(tmp_path):
    with pytest.raises(CaptureError, match="use only one of them"):
        Profiler(acc_events=True, with_stack=True)


def test_an_execution_trace_is_linked_to_the_operators(work, tmp_path):
    recorded(work, tmp_path / "run", execution_trace=True)
    store = ingest.Store(tmp_path / "store")
    store.add(tmp_path / "run")
    rows = ingest.connect(store.path).sql(
        "SELECT node.name, ops.name, input_shapes FROM execution_trace_nodes AS node "
        "INNER JOIN ops ON node.event_id = ops.event_id WHERE node.name = 'aten::addmm'"
    )
    assert rows.fetchall() == [("aten::addmm", "aten::addmm", "[[4], [2, 4], [4, 4], [], []]")]
    assert not [path for path in (tmp_path / "run").iterdir() if path.name.startswith(".")]


def test_a_fork_that_abandons_the_run_adds_nothing_to_its_execution_trace(work, tmp_path):
    with Profiler(output_dir=tmp_path, name="mine", execution_trace=True) as profiler:
        work()
        child = os.fork()
        if not child:
            profiler.abandon()
            for _ in range(300):
                work()
            os._exit(0)
        os.waitpid(child, 0)
    with gzip.open(tmp_path / "mine-rank0.et.json.gz") as file:
        nodes = json.load(file)["nodes"]
    assert [node["name"] for node in nodes].count("aten::addmm") == 1


def test_an_experimental_option_reaches_torch(work, tmp_path):
    recorded(work, tmp_path / "plain")
    recorded(work, tmp_path / "verbose", with_stack=True, experimental_config={"verbose": True})
    assert "Call stack" not in str(Captured.read(tmp_path / "plain").events)
    assert "Call stack" in str(Captured.read(tmp_path / "verbose").events)


def test_an_unknown_experimental_option_is_an_error(work, tmp_path):
    with pytest.raises(CaptureError, match="does not accept the experimental options nonsense=1"):
        recorded(work, tmp_path, experimental_config={"nonsense": 1})


def test_a_schedule_from_torch_is_accepted(work, tmp_path):
    from torch.profiler import schedule

    plan = schedule(skip_first=1, wait=1, warmup=1, active=1, repeat=2)
    recorded(work, tmp_path, 10, schedule=plan)
    assert [path.name for path in sorted(tmp_path.glob("*.gz"))] == [
        "mine-rank0-cycle1.trace.json.gz",
        "mine-rank0-cycle2.trace.json.gz",
    ]
    assert Captured.described(tmp_path / "run.json")["profiler"]["schedule"].startswith("schedule")


def test_a_function_is_accepted_as_schedule(work, tmp_path):
    from torch.profiler import ProfilerAction

    def only_third(step: int) -> ProfilerAction:
        return ProfilerAction.RECORD_AND_SAVE if step == 2 else ProfilerAction.NONE

    recorded(work, tmp_path, 5, schedule=only_third)
    assert Captured.read(tmp_path).steps == ["ProfilerStep#2"]


def test_a_schedule_with_its_numbers_is_refused():
    with pytest.raises(CaptureError, match="cannot be combined with skip_first"):
        Profiler(schedule=lambda _: None, active=1)


def test_all_options_have_flags():
    profiler = from_flags(
        *("--profile-memory", "--with-flops", "--with-modules", "--acc-events"),
        *("--execution-trace", "--skip-first", "2"),
        *("--experimental-config", "verbose=true"),
        *("--experimental-config", "profiler_metrics=kineto__a,kineto__b"),
    )
    assert profiler.options == {
        "with_stack": False,
        "record_shapes": True,
        "profile_memory": True,
        "with_flops": True,
        "with_modules": True,
        "acc_events": True,
        "experimental_config": {
            "verbose": True,
            "profiler_metrics": ["kineto__a", "kineto__b"],
        },
    }
    assert profiler.execution_trace
    assert profiler.schedule.description == {
        "skip_first": 2, "wait": 0, "warmup": 1, "active": 3, "repeat": 1
    }  # fmt: skip


def test_flags_have_a_long_form():
    assert from_flags("--profile-with-flops", "--profile-skip-first", "1").options["with_flops"]


def test_an_experimental_option_without_a_value_is_an_error():
    with pytest.raises(CaptureError, match="must be NAME=VALUE"):
        from_flags("--experimental-config", "verbose")

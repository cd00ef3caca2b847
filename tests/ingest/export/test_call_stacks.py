"""Export of call stacks for flamegraph.pl and speedscope."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.events import frame, host, kernel, op
from tests.conftest import Traces


@pytest.fixture(scope="module")
def added(shared_traces: Traces) -> Traces:
    """A run with a frame that calls an operator twice. The operator launches a kernel each time.

    Tests share this store and must not change it.
    """
    shared_traces.store.add(
        shared_traces.write(
            [
                frame("a b.py(3): main", 0, 100),
                *(
                    event
                    for n, ts in enumerate((10, 50))
                    for event in (
                        op("aten::mm", ts, 20),
                        host("cudaLaunchKernel", "cuda_runtime", ts + 5, 5, {"correlation": n + 1}),
                        kernel("gemm;x", ts + 30, 4, correlation=n + 1),
                    )
                ),
            ]
        )
    )
    return shared_traces


@pytest.fixture
def default_store(request: pytest.FixtureRequest, store: ingest.Store) -> Path:
    """The store of `command`: the shared one in tests that use `added`."""
    if "added" not in request.fixturenames:
        return store.path
    shared: Traces = request.getfixturevalue("added")
    return shared.store.path


def lines(command: Callable[..., Any], path: Path, *options: str) -> list[str]:
    assert command("export", "trace", "--stacks", str(path), *options).code == 0
    return sorted(path.read_text().splitlines())


def test_lines_list_frames_from_the_outermost_to_the_innermost(
    added: Traces, command: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "stacks.txt"
    assert lines(command, path) == [
        "a_b.py(3):_main 60000",
        "a_b.py(3):_main;aten::mm 30000",
        "a_b.py(3):_main;aten::mm;cudaLaunchKernel 10000",
    ]
    assert lines(command, path, "--metric", "device") == [
        "a_b.py(3):_main;aten::mm;gemm_x 8000",
    ]
    assert lines(command, path, "--metric", "idle") == ["a_b.py(3):_main;aten::mm;gemm_x 76000"]


def test_a_speedscope_file_has_a_profile_for_each_thread(
    added: Traces, command: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "trace.speedscope.json"
    assert command("export", "trace", "--speedscope", str(path)).code == 0
    file = json.loads(path.read_text())
    frames = file["shared"]["frames"]
    assert {"name": "main", "file": "a b.py", "line": 3} in frames
    (profile,) = file["profiles"]
    assert (profile["type"], profile["unit"], profile["name"]) == (
        *("evented", "nanoseconds"),
        "rank 0, process 1, thread 1",
    )
    events = [(e["type"], frames[e["frame"]]["name"], e["at"]) for e in profile["events"]]
    assert events == [
        ("O", "main", 0),
        ("O", "aten::mm", 0),
        ("O", "cudaLaunchKernel", 0),
        ("C", "cudaLaunchKernel", 10_000),
        ("C", "aten::mm", 40_000),
        ("C", "main", 100_000),
    ]
    assert profile["endValue"] == 100_000


@pytest.mark.parametrize("metric", ["cpu-memory", "device-memory"])
def test_a_metric_that_was_not_recorded_is_an_error(
    added: Traces, command: Callable[..., Any], tmp_path: Path, metric: str
) -> None:
    path = tmp_path / "stacks.txt"
    done = command("export", "trace", "--stacks", str(path), "--metric", metric)
    assert done.code == 1
    assert f"no {metric.replace('cpu-', 'host ').replace('-', ' ')} was recorded" in done.err
    assert not path.exists()


def test_two_files_at_once_are_an_error(
    added: Traces, command: Callable[..., Any], tmp_path: Path
) -> None:
    files = ("--stacks", str(tmp_path / "a"), "--speedscope", str(tmp_path / "b"))
    assert command("export", "trace", *files).code == 2


def test_a_dash_is_the_standard_output_and_other_files_refuse_a_metric(
    added: Traces, command: Callable[..., Any]
) -> None:
    done = command("export", "trace", "--stacks", "-", "--metric", "device")
    assert done.out == "a_b.py(3):_main;aten::mm;gemm_x 8000\n"
    assert command("export", "trace", "--memory-svg", "-", "--metric", "device").code == 2


def test_a_step_keeps_the_callers_outside_of_it(
    traces: Traces, command: Callable[..., Any]
) -> None:
    traces.store.add(
        traces.write(
            [
                frame("a.py(3): main", 0, 200),
                *(host(f"ProfilerStep#{n}", "user_annotation", n * 100, 90) for n in (0, 1)),
                *(op("aten::mm", n * 100 + 10, 20 + n) for n in (0, 1)),
            ]
        )
    )
    done = command("export", "trace", "--stacks", "-", "--step", "1")
    assert sorted(done.out.splitlines()) == [
        "a.py(3):_main;ProfilerStep* 69000",
        "a.py(3):_main;ProfilerStep*;aten::mm 21000",
    ]


def test_kernels_outside_of_operators_and_without_a_launch_are_included(
    traces: Traces, command: Callable[..., Any]
) -> None:
    """They are below the annotation, frame or runtime call of their launch, or `(no launch)`."""
    launch = ("cudaLaunchKernel", "cuda_runtime")
    traces.store.add(
        traces.write(
            [
                op("record_param_comms", 0, 50),
                host("nccl:all_to_all", "user_annotation", 5, 30),
                host(*launch, 10, 5, {"correlation": 1}),
                kernel("in annotation", 20, 7, correlation=1),
                host(*launch, 60, 5, {"correlation": 2}),
                kernel("alone", 70, 9, correlation=2),
                kernel("lost", 80, 11, correlation=99),
            ]
        )
    )
    done = command("export", "trace", "--stacks", "-", "--metric", "device")
    assert sorted(done.out.splitlines()) == [
        "(no_launch);lost 11000",
        "cudaLaunchKernel;alone 9000",
        "record_param_comms;nccl:all_to_all;in_annotation 7000",
    ]


SAMPLES = ("h100_owlv2", "mi300_owlv2", "v100_resnet50_workers0", "h100_qwen1.5-0.5b")
SAMPLES += ("nccl_training_control", "mi210_gpu_only", "alexnet_cuda_sync")


@pytest.mark.parametrize("name", SAMPLES)
def test_all_kernels_and_all_idle_time_are_in_the_tree(sample_store: Path, name: str) -> None:
    with ingest.connect(sample_store) as connection:
        (run,) = connection.execute("SELECT run_id FROM runs WHERE name = $1", [name]).fetchall()[0]
        stacks = connection.execute(
            "SELECT name, sum(calls), sum(self_device_ns) FROM call_stacks($1) "
            "WHERE category = 'kernel' AND calls > 0 GROUP BY name ORDER BY name",
            [run],
        ).fetchall()
        kernels = connection.execute(
            "SELECT name, count(*), sum(dur_ns) FROM kernels WHERE run_id = $1 "
            "GROUP BY name ORDER BY name",
            [run],
        ).fetchall()
        assert stacks == kernels
        [(idle, gaps)] = connection.execute(
            "SELECT (SELECT sum(self_idle_ns) FROM call_stacks($1)), "
            "(SELECT coalesce(sum(dur_ns), 0) FROM bubbles WHERE run_id = $1 "
            "AND after_kernel_id IS NOT NULL AND (NOT is_edge OR step IS NOT NULL OR run_id IN "
            "(SELECT run_id FROM measured_windows WHERE steps_from = 'run')))",
            [run],
        ).fetchall()
        assert idle == gaps

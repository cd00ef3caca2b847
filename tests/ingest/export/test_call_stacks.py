"""Call stacks in the files of flamegraph.pl and speedscope."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.events import frame, host, kernel, op
from tests.conftest import Traces


@pytest.fixture
def added(traces: Traces) -> Traces:
    """A frame that calls an operator twice, which launches a kernel each time."""
    traces.store.add(
        traces.write(
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
    return traces


def lines(command: Callable[..., Any], path: Path, *options: str) -> list[str]:
    assert command("export", "trace", "--stacks", str(path), *options).code == 0
    return sorted(path.read_text().splitlines())


def test_lines_from_the_outermost_frame_to_the_innermost(
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
    assert lines(command, path, "--metric", "idle") == ["a_b.py(3):_main;aten::mm 36000"]


def test_speedscope_gets_each_thread(
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
def test_what_was_not_recorded_is_no_file(
    added: Traces, command: Callable[..., Any], tmp_path: Path, metric: str
) -> None:
    path = tmp_path / "stacks.txt"
    done = command("export", "trace", "--stacks", str(path), "--metric", metric)
    assert done.code == 1
    assert "was recorded" in done.err
    assert not path.exists()


def test_one_file_at_a_time(added: Traces, command: Callable[..., Any], tmp_path: Path) -> None:
    files = ("--stacks", str(tmp_path / "a"), "--speedscope", str(tmp_path / "b"))
    assert command("export", "trace", *files).code == 2


@pytest.mark.parametrize("name", ["h100_owlv2", "mi300_owlv2", "v100_resnet50_workers0"])
def test_every_kernel_with_a_launch_is_in_the_tree(sample_store: Path, name: str) -> None:
    """All the device time that is launched on a thread, and that of each kernel by its operator."""
    with ingest.connect(sample_store) as connection:
        (run,) = connection.execute("SELECT run_id FROM runs WHERE name = $1", [name]).fetchall()[0]
        found = connection.execute(
            "SELECT name, sum(self_device_ns) FROM call_stacks($1) WHERE category = 'kernel' "
            "GROUP BY name ORDER BY name",
            [run],
        ).fetchall()
        expected = connection.execute(
            "SELECT name, sum(dur_ns) FROM kernels WHERE run_id = $1 AND op_id IS NOT NULL "
            "GROUP BY name ORDER BY name",
            [run],
        ).fetchall()
        assert found == expected
        whole = connection.execute(
            "SELECT (SELECT sum(self_device_ns) FROM call_stacks($1)), "
            "(SELECT sum(self_device_ns) FROM call_tree WHERE run_id = $1)",
            [run],
        ).fetchall()[0]
        assert whole[0] == whole[1]

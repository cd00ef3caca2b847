"""`ingest table`, compared with the table that torch prints for the same recording."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function

from tests.builders.events import frame, host, kernel, op
from tests.conftest import Traces


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A profiler that recorded everything it can, and the file that it exported."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.LazyLinear(5)
    )
    model(torch.ones(1, 3, 8, 8))
    with profile(
        activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_flops=True
    ) as recording:
        for size in (1, 2):
            with record_function("forward"):
                model(torch.ones(size, 3, 8, 8)).sum()
    path = tmp_path_factory.mktemp("torch") / "trace.json"
    recording.export_chrome_trace(str(path))
    return recording, path


@pytest.fixture(scope="module")
def store_of_recorded(recorded: tuple[Any, Path], shared_traces: Traces) -> Path:
    """A store with that file as run `trace`, and as run `small` two steps with a kernel each."""
    shared_traces.store.add(recorded[1])
    small(shared_traces)
    return shared_traces.store.path


def cells(text: str) -> list[list[Any]]:
    """Return the words of a table's lines, with times and percentages as numbers and units.

    The lines are sorted, because rows with equal sort values have no order. Times do not count for
    that, because they may differ in their last digit.
    """
    times = re.compile(r"([\d.]+)(us|ms|s|%)")
    lines = [
        [(float(time[1]), time[2]) if (time := times.fullmatch(word)) else word for word in words]
        for words in map(str.split, text.splitlines())
        if words
    ]
    return sorted(lines, key=lambda line: [word for word in line if isinstance(word, str)])


def near(line: list[Any]) -> list[Any]:
    """Allow numbers to differ in their last digit: torch adds up floats and then rounds them."""
    return [
        (pytest.approx(word[0], abs=0.011 if word[1] == "%" else 0.0011), word[1])
        if isinstance(word, tuple)
        else word
        for word in line
    ]


@pytest.mark.parametrize("sort_by", ["self_cpu_time_total", "cpu_memory_usage", "flops", "count"])
@pytest.mark.parametrize("by_shape", [False, True])
def test_the_table_equals_torchs(
    recorded: tuple[Any, Path],
    store_of_recorded: Path,
    command: Callable[..., Any],
    sort_by: str,
    by_shape: bool,
) -> None:
    recording, _ = recorded
    expected = recording.key_averages(group_by_input_shape=by_shape).table(
        sort_by=sort_by, row_limit=-1
    )
    shapes = ["--group-by-input-shape"] if by_shape else []
    options = ("--sort-by", sort_by, "--row-limit", "-1", *shapes)
    printed = command("table", "trace", *options, store=store_of_recorded)
    assert printed.code == 0
    assert cells(printed.out) == [near(line) for line in cells(expected)]
    assert printed.out.splitlines()[:3] == expected.splitlines()[:3]


def test_times_equal_torchs_to_the_nanosecond(
    recorded: tuple[Any, Path], store_of_recorded: Path, command: Callable[..., Any]
) -> None:
    recording, _ = recorded
    expected = {
        row.key: (round(1000 * row.self_cpu_time_total), round(1000 * row.cpu_time_total))
        for row in recording.key_averages()
    }
    rows = json.loads(command("table", "trace", "--json", store=store_of_recorded).out)
    assert {
        row["name"]: (row["self_cpu_time_total"], row["cpu_time_total"]) for row in rows
    } == expected


def small(traces: Traces) -> None:
    """Add a run with two steps, each of which launches a kernel from a frame."""
    traces.store.add(
        traces.write(
            [
                event
                for step, ts in enumerate((0, 1000))
                for event in (
                    host(f"ProfilerStep#{step}", "user_annotation", ts, 900),
                    frame("a.py(3): f", ts + 10, 400),
                    op("aten::mm", ts + 20, 100 + step),
                    host("cudaLaunchKernel", "cuda_runtime", ts + 30, 5, {"correlation": step + 1}),
                    kernel("gemm", ts + 200, 50, correlation=step + 1),
                )
            ],
            "small",
        )
    )


def test_a_step_sorted_by_device_time(store_of_recorded: Path, command: Callable[..., Any]) -> None:
    options = ("--sort-by", "cuda_time_total", "--step", "1", "--json")
    rows = json.loads(command("table", "small", *options, store=store_of_recorded).out)
    times = {row["name"]: (row["cpu_time_total"], row["device_time_total"]) for row in rows}
    assert times["aten::mm"] == (101_000, 50_000)
    assert times["gemm"] == (0, 50_000)
    assert [row["device_time_total"] for row in rows] == [50_000, 50_000, 50_000, 50_000, 0]
    printed = command("table", "small", "--row-limit", "2", store=store_of_recorded)
    printed = printed.out.splitlines()
    assert len([line for line in printed if not line.startswith("---")]) == 5
    assert printed[-1] == "Self device time total: 100.000us"


def test_rows_can_be_grouped_by_stack(store_of_recorded: Path, command: Callable[..., Any]) -> None:
    options = ("--group-by-stack-n", "2")
    text = command("table", "small", *options, "--csv", store=store_of_recorded).out
    stacks = {row["name"]: row["stack"] for row in csv.DictReader(io.StringIO(text))}
    assert "a.py(3): f" in stacks["aten::mm"]
    assert "a.py(3): f" in command("table", "small", *options, store=store_of_recorded).out


@pytest.mark.parametrize(
    "wrong",
    [
        ("--sort-by", "speed"),
        ("--group-by-input-shape", "--group-by-stack-n", "2"),
        ("--json", "--csv"),
    ],
)
def test_wrong_usage_is_an_error(
    store_of_recorded: Path, command: Callable[..., Any], wrong: tuple[str, ...]
) -> None:
    assert command("table", "small", *wrong, store=store_of_recorded).code == 2


def test_the_error_for_a_missing_step_names_it(traces: Traces, command: Callable[..., Any]) -> None:
    small(traces)
    done = command("table", "small", "--step", "7")
    assert (done.code, done.out) == (1, "")
    assert "step 7" in done.err
    traces.store.add(traces.write([op("aten::mm")], "whole"))
    assert "step 0" in command("table", "whole", "--step", "0").err

"""Kernels by launch shape, and the lines of Python that launch them."""

from typing import Any

import pytest

from tests.builders.events import Event, frame, host, kernel, op
from tests.builders.relations import Relations, built

H100: dict[str, Any] = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85_000_000_000,
    "computeMajor": 9,
    "computeMinor": 0,
    "numSms": 132,
}
MM = "sgemm_128x64"
GELU = "gelu_kernel"
# 8 blocks of these fit on a multiprocessor: of 256 threads, with 32 registers each.
SHAPE: dict[str, Any] = {
    "block": [256, 1, 1],
    "registers per thread": 32,
    "shared memory": 0,
    "est. achieved occupancy %": 50,
}
BYTES = 4096 * 4096 * 4
LEAST_NS = 2 * 4096**3 / 66.9e3  # of the product in float32


def launched(number: int, name: str, us: float, dur_us: float, **args: Any) -> list[Event]:
    """Return a launch that takes 5 µs, and its kernel."""
    launch = host("cudaLaunchKernel", "cuda_runtime", us, 5, {"correlation": number})
    return [launch, kernel(name, us + 10, dur_us, correlation=number, **args)]


def step(number: int) -> list[Event]:
    """Return a step: a product, which takes longer in each step, and two short kernels."""
    start = 10_000 * number
    shapes = {"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["float", "float"]}
    first = 10 * number
    return [
        host(f"ProfilerStep#{number}", "user_annotation", start, 9_000),
        frame("model.py(7): forward", start + 50, 500),
        frame("torch/nn/functional.py(1): linear", start + 60, 200),
        op("aten::mm", start + 100, 100, args=shapes),
        *launched(first + 1, MM, start + 110, 4_000 + 1_000 * number, **SHAPE, grid=[528, 2, 1]),
        *launched(first + 2, GELU, start + 300, 2, **SHAPE, grid=[264, 1, 1]),
        *launched(first + 3, GELU, start + 400, 2, **SHAPE, grid=[1056, 1, 1]),
    ]


@pytest.fixture(scope="module")
def relations() -> Relations:
    events = [event for number in range(2) for event in step(number)]
    return built(events, deviceProperties=[H100])


COLUMNS = (
    "kernel, grid[1], block[1], registers, shared_bytes, calls, device_ns, round(percent, 2), "
    "mean_ns, min_ns, max_ns, std_ns, blocks, resident_blocks, waves, occupancy_percent, level"
)


def test_a_kernel_has_a_row_for_each_launch_shape(relations):
    rows = relations.sql(
        f"SELECT {COLUMNS} FROM kernel_shapes_of_steps('run') ORDER BY device_ns DESC, grid"
    ).fetchall()
    launch = (256, 32, 0)
    gelu = (2, 4_000, 0.04, 2_000.0, 2_000, 2_000, 0.0)
    times = (2, 9_000_000, 99.91, 4_500_000.0, 4_000_000, 5_000_000, pytest.approx(707_106.8))
    assert rows == [
        (MM, 528, *launch, *times, 1056, 8, 1.0, 50.0, "kernel"),
        (GELU, 264, *launch, *gelu, 264, 8, 0.25, 50.0, None),
        (GELU, 1056, *launch, *gelu, 1056, 8, 1.0, 50.0, None),
    ]


def test_a_range_of_steps_has_only_their_kernels(relations):
    rows = relations.sql(
        "SELECT kernel, calls, device_ns, std_ns FROM kernel_shapes_of_steps('run', 1, 1) "
        "ORDER BY device_ns DESC, grid"
    ).fetchall()
    assert rows == [(MM, 1, 5_000_000, None), (GELU, 1, 2_000, None), (GELU, 1, 2_000, None)]


def test_rates_are_weighted_by_time(relations):
    [found] = relations.sql(
        "SELECT tflop_per_s, tb_per_s, peak_percent, bandwidth_percent, bound, saved_ns, known_ns "
        f"FROM kernel_shapes_of_steps('run') WHERE kernel = '{MM}'"
    ).fetchall()
    ns = 9_000_000
    assert found == (
        pytest.approx(2 * 2 * 4096**3 / ns / 1e3),
        pytest.approx(2 * 3 * BYTES / ns / 1e3),
        pytest.approx(100 * 2 * LEAST_NS / ns),
        pytest.approx(100 * 2 * 3 * BYTES / 3.35e3 / ns),
        "neither",
        pytest.approx(ns - 2 * LEAST_NS),
        ns,
    )


def test_kernels_without_known_work_have_no_rates(relations):
    rows = relations.sql(
        "SELECT DISTINCT tflop_per_s, tb_per_s, peak_percent, bound, saved_ns, known_ns "
        f"FROM kernel_shapes_of_steps('run') WHERE kernel = '{GELU}'"
    ).fetchall()
    assert rows == [(None,) * 6]


def test_names_show_matrix_cores():
    events = [*launched(1, "h884gemm", 0, 10), *launched(2, "copy", 50, 10)]
    found = built(events).sql(
        "SELECT kernel, is_on_matrix_cores, grid, waves FROM kernel_shapes_of_steps() "
        "ORDER BY kernel"
    )
    assert found.fetchall() == [("copy", False, None, None), ("h884gemm", True, None, None)]


def test_lines_are_the_innermost_outside_of_torch(relations):
    rows = relations.sql(
        f"SELECT rank, name, calls, device_ns FROM kernel_lines('run', '{MM}', 1, 1)"
    ).fetchall()
    assert rows == [(0, "model.py(7): forward", 1, 5_000_000)]


def test_a_launch_outside_of_python_has_no_line():
    rows = built(launched(1, MM, 0, 10)).sql(f"SELECT name, calls FROM kernel_lines('run', '{MM}')")
    assert rows.fetchall() == [(None, 1)]

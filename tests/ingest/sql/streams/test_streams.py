"""The views of streams on real traces: they equal plain Python, and their steps add up."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.ingest.sql.runs.metrics_in_python import Event, read
from tests.ingest.sql.streams import in_python
from tests.ingest.sql.streams.in_python import Row
from tests.ingest.sql.streams.trace_in_python import Activity, activities, innermost
from tests.samples import TWO_RANKS, Samples

QUERIES = {  # function in plain Python → the equivalent query
    in_python.temporal: """
        SELECT device, kind, sum(ns)::BIGINT FROM temporal_breakdown() WHERE {ours} GROUP BY ALL
        """,
    in_python.gaps: """
        SELECT device, stream, start_ns - {first}, dur_ns, launch_delay_ns
        FROM stream_gaps WHERE {ours}
        """,
    in_python.idle: """
        SELECT
            device, stream, cause, gaps, idle_ns, min_ns, median_ns, mean_ns, max_ns, stddev_ns
        FROM stream_idle() WHERE {ours}
        """,
    in_python.overlap: """
        SELECT device, array_to_string(classes, '+'), dur_ns FROM class_overlap() WHERE {ours}
        """,
    in_python.launches: """
        SELECT
            device, api, launches, activities, call_ns, median_call_ns, max_call_ns, device_ns,
            delay_ns, median_delay_ns, mean_delay_ns, max_delay_ns, prompt_launches,
            short_launches, long_calls, long_delays
        FROM launch_statistics() WHERE {ours}
        """,
    in_python.queues: """
        SELECT device, stream, time_ns - {first}, launches, length FROM queue_length WHERE {ours}
        """,
    in_python.queue_means: """
        SELECT
            device, stream, launches, mean_length, max_length, dur_ns, waiting_ns, full_ns
        FROM queue_statistics() WHERE {ours}
        """,
    in_python.copies: """
        SELECT
            device, copy, copies, unsized_copies, bytes, device_ns, gb_per_s, min_gb_per_s,
            median_gb_per_s, max_gb_per_s
        FROM copy_statistics() WHERE {ours}
        """,
    in_python.bandwidth: """
        SELECT device, copy, time_ns - {first}, copies, gb_per_s FROM copy_bandwidth WHERE {ours}
        """,
    in_python.kernel_times: """
        SELECT
            device, class, name, calls, total_ns, min_ns, median_ns, mean_ns, max_ns, stddev_ns
        FROM kernel_statistics() WHERE {ours}
        """,
    in_python.sequences: """
        SELECT device, name, kernels, calls, device_ns
        FROM kernel_sequences() WHERE level = 'leaf' AND {ours}
        """,
    in_python.delays: """
        SELECT device, name, launches, activities, op_to_launch_ns, launch_to_kernel_ns
        FROM op_launch_delay WHERE {ours}
        """,
    in_python.annotations: """
        SELECT
            device, stream, name, calls, span_ns, leaf_calls, leaf_ns, activities, device_ns
        FROM annotation_breakdown() WHERE {ours}
        """,
}
TRACES = (
    "alexnet_cuda_sync",
    "h100_qwen1.5-0.5b",  # its graph's kernels have no launch
    "mi210_gpu_only",
    "mi300_flux1_graph_replay",
    "mi300_resnet_ddp_rank0",
    "mi300_torch_compile_triton",
    "mtia_inference",
    "nccl_training_control",
    "two_rank_rank0",
    "two_rank_rank1",
)
SINGLE = tuple(trace for trace in TRACES if not trace.startswith("two_rank"))


@pytest.fixture(scope="module")
def store_of_streams(sampled: Samples) -> Iterator[duckdb.DuckDBPyConnection]:
    with ingest.connect(sampled.store(*SINGLE, TWO_RANKS)) as connection:
        yield connection


@lru_cache(maxsize=1)
def trace_of(path: Path) -> list[Activity]:
    return activities(path)


def exact(rows: list[Row]) -> list[Row]:
    """Return sorted rows, with fractions rounded so that the order of summation does not matter."""
    rounded = [tuple(_exact(value) for value in row) for row in rows]
    return sorted(rounded, key=repr)


def _exact(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.mark.parametrize("function", QUERIES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("trace", TRACES)
def test_views_equal_plain_python(
    trace: str, function: Any, sampled: Samples, store_of_streams: duckdb.DuckDBPyConnection
) -> None:
    paths = (path for run in (*SINGLE, TWO_RANKS) for path in sampled.files(run))
    file = next(path for path in paths if trace in path.name)
    [(run_id, rank)] = store_of_streams.execute(
        "SELECT run_id, rank FROM sources WHERE ends_with(path, $1)", [file.name]
    ).fetchall()
    ours = f"run_id = '{run_id}' AND rank = {rank}"
    first = f"(SELECT min(start_ns) FROM kernels WHERE {ours})"
    rows = store_of_streams.sql(QUERIES[function].format(ours=ours, first=first)).fetchall()
    assert exact(rows) == exact(function(trace_of(file)))


SUMS = {  # view → columns whose sums over steps equal the recording
    "annotation_breakdown": "calls, span_ns, leaf_ns, activities, device_ns",
    "copy_statistics": "copies, unsized_copies, bytes, device_ns",
    "kernel_sequences": "calls, device_ns",
    "kernel_statistics": "calls, total_ns",
    "launch_statistics": "launches, activities, call_ns, delay_ns, prompt_launches, long_delays",
    "stream_idle": "gaps, idle_ns",
}


@pytest.mark.parametrize("view", SUMS)
def test_steps_add_up_to_the_recording(
    view: str, store_of_streams: duckdb.DuckDBPyConnection
) -> None:
    columns = ", ".join(f"sum({column})" for column in SUMS[view].split(", "))
    whole, by_step = (
        store_of_streams.sql(
            f"""
            SELECT run_id, rank, device, {columns} FROM {view}(by_step := {by_step})
            SEMI JOIN (
                SELECT run_id FROM kernels GROUP BY run_id HAVING count(*) = count(step)
            ) AS complete USING (run_id)
            GROUP BY ALL ORDER BY ALL
            """
        ).fetchall()
        for by_step in (False, True)
    )
    assert whole
    assert whole == by_step


def test_parts_of_a_step_add_up_to_its_wall_time(
    store_of_streams: duckdb.DuckDBPyConnection,
) -> None:
    found = store_of_streams.sql(
        """
        SELECT run_id, rank, device, step, wall_ns, sum(ns)
        FROM temporal_breakdown(by_step := TRUE)
        INNER JOIN step_metrics USING (run_id, rank, device, step)
        WHERE step IS NOT NULL GROUP BY ALL
        """
    ).fetchall()
    assert len(found) >= 10
    assert [row[-1] for row in found] == [row[-2] for row in found]


def test_counters_have_the_launches_of_their_kernels(sampled: Samples) -> None:
    """The sample has as many measurements as launches, so each measurement has a launch."""
    [path] = sampled.files("cupti_counters")
    events = read(path)
    ranges = [e for e in events if e["cat"] == "cuda_profiler_range"]
    calls = [e for e in events if e["name"] == "cudaLaunchKernel"]
    ops = innermost([e for e in events if e["cat"] == "cpu_op"], calls)
    assert len(ranges) == len(calls) == 77
    first = min(event["start"] for event in calls)
    expected = [
        (n, measured["name"], counter, value, call["start"] - first, ops[id(call)]["name"])
        for n, (measured, call) in enumerate(zip(by_start(ranges), by_start(calls), strict=True), 1)
        for counter, value in measured["args"].items()
    ]
    with ingest.connect(sampled.store("cupti_counters")) as connection:
        rows = connection.sql(
            """
            SELECT
                ordinal, kernel, counter, value,
                launch_ns - (SELECT min(launch_ns) FROM cupti_counters), op
            FROM cupti_counters
            """
        ).fetchall()
    assert sorted(rows) == sorted(expected)


def by_start(events: list[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event["start"])

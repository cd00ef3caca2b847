"""The views of streams on real traces: they equal plain Python, and their steps add up."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.cases import check_each
from tests.helpers.samples import TWO_RANKS, Samples
from tests.ingest.sql.runs.metrics_in_python import Event, read
from tests.ingest.sql.streams import in_python
from tests.ingest.sql.streams.in_python import Row
from tests.ingest.sql.streams.trace_in_python import activities, innermost

FIRSTS = """
    WITH firsts AS (SELECT run_id, rank, min(start_ns) AS first_ns FROM kernels GROUP BY ALL)
    """
QUERIES = {  # function in plain Python → the equivalent query, with `FIRSTS`
    in_python.temporal: """
        SELECT run_id, rank, device, kind, sum(ns)::BIGINT
        FROM temporal_breakdown()
        INNER JOIN firsts USING (run_id, rank)
        GROUP BY ALL
        """,
    in_python.gaps: """
        SELECT run_id, rank, device, stream, start_ns - first_ns, dur_ns, launch_delay_ns
        FROM stream_gaps
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.idle: """
        SELECT
            run_id, rank,
            device, stream, cause, gaps, idle_ns, min_ns, median_ns, mean_ns, max_ns, stddev_ns
        FROM stream_idle()
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.overlap: """
        SELECT run_id, rank, device, array_to_string(classes, '+'), dur_ns
        FROM class_overlap()
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.launches: """
        SELECT
            run_id, rank,
            device, api, launches, activities, call_ns, median_call_ns, max_call_ns, device_ns,
            delay_ns, median_delay_ns, mean_delay_ns, max_delay_ns, prompt_launches,
            short_launches, long_calls, long_delays
        FROM launch_statistics()
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.queues: """
        SELECT run_id, rank, device, stream, time_ns - first_ns, launches, length
        FROM queue_length
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.queue_means: """
        SELECT
            run_id, rank,
            device, stream, launches, mean_length, max_length, dur_ns, waiting_ns, full_ns
        FROM queue_statistics()
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.copies: """
        SELECT
            run_id, rank,
            device, copy, copies, unsized_copies, bytes, device_ns, gb_per_s, min_gb_per_s,
            median_gb_per_s, max_gb_per_s
        FROM copy_statistics()
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.bandwidth: """
        SELECT run_id, rank, device, copy, time_ns - first_ns, copies, gb_per_s
        FROM copy_bandwidth
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.kernel_times: """
        SELECT
            run_id, rank,
            device, class, name, calls, total_ns, min_ns, median_ns, mean_ns, max_ns, stddev_ns
        FROM kernel_statistics()
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.sequences: """
        SELECT run_id, rank, device, name, sequence, calls, device_ns
        FROM kernel_sequences()
        INNER JOIN firsts USING (run_id, rank)
        WHERE level = 'leaf'
        """,
    in_python.delays: """
        SELECT
            run_id, rank,
            device, name, launches, activities, op_to_launch_ns, launch_to_kernel_ns
        FROM op_launch_delay
        INNER JOIN firsts USING (run_id, rank)
        """,
    in_python.annotations: """
        SELECT
            run_id, rank, device, stream, name,
            sum(calls), sum(span_ns), sum(leaf_calls), sum(leaf_ns), sum(activities), sum(device_ns)
        FROM annotation_breakdown
        INNER JOIN firsts USING (run_id, rank)
        GROUP BY ALL
        """,
}
TRACES = (
    "alexnet_cuda_sync",
    "h100_qwen1.5-0.5b",  # kernels of its graph have no launch
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


def exact(rows: list[Row]) -> list[Row]:
    """Return sorted rows, with fractions rounded so that the order of summation does not matter."""
    rounded = [tuple(_exact(value) for value in row) for row in rows]
    return sorted(rounded, key=repr)


def _exact(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return float(f"{value:.9g}") if isinstance(value, float) else value


Found = dict[Any, dict[tuple[str, int], list[Row]]]


@pytest.fixture(scope="module")
def found(store_of_streams: duckdb.DuckDBPyConnection) -> Found:
    """The rows of each query by run and rank."""
    rows: Found = {function: defaultdict(list) for function in QUERIES}
    for function, query in QUERIES.items():
        for run_id, rank, *row in store_of_streams.sql(FIRSTS + query).fetchall():
            rows[function][run_id, rank].append(tuple(row))
    return rows


@pytest.mark.parametrize("trace", TRACES)
def test_views_equal_plain_python(
    trace: str, found: Found, sampled: Samples, store_of_streams: duckdb.DuckDBPyConnection
) -> None:
    paths = (path for run in (*SINGLE, TWO_RANKS) for path in sampled.files(run))
    file = next(path for path in paths if trace in path.name)
    [(run_id, rank)] = store_of_streams.execute(
        "SELECT run_id, rank FROM sources WHERE ends_with(path, $1)", [file.name]
    ).fetchall()
    recorded = activities(file)

    def check(function: Any) -> None:
        assert exact(found[function][run_id, rank]) == exact(function(recorded))

    check_each(QUERIES, check)


SUMS = {  # view → columns whose sums over steps equal the recording
    "copy_statistics": "copies, unsized_copies, bytes, device_ns",
    "kernel_sequences": "device_ns",
    "kernel_statistics": "calls, total_ns",
    "launch_statistics": "launches, activities, call_ns, delay_ns, prompt_launches, long_delays",
    "stream_idle": "gaps, idle_ns",
}


@pytest.mark.parametrize("view", SUMS)
def test_steps_add_up_to_the_recording(
    view: str, store_of_streams: duckdb.DuckDBPyConnection
) -> None:
    columns = ", ".join(f"sum({column})" for column in SUMS[view].split(", "))
    runs = store_of_streams.sql(
        """
        SELECT run_id, list_sort(list(DISTINCT step)) FROM kernels
        GROUP BY run_id HAVING count(*) = count(step)
        """
    ).fetchall()
    assert runs

    def sums(*arguments: object) -> list[Any]:
        bound = ", ".join("?" for _ in arguments)
        query = f"SELECT {columns} FROM {view}({bound})"
        return list(store_of_streams.execute(query, arguments).fetchall()[0])

    for run, steps in runs:
        of_steps = [sums(run, step, step) for step in steps]
        assert [sum(each) for each in zip(*of_steps, strict=True)] == sums(run)
        assert sums(run, steps[0], steps[-1]) == sums(run)


def test_parts_of_a_step_add_up_to_its_wall_time(
    store_of_streams: duckdb.DuckDBPyConnection,
) -> None:
    walls = store_of_streams.sql(
        """
        SELECT run_id, step, rank, device, wall_ns FROM step_metrics
        WHERE step IS NOT NULL AND kernels IS NOT NULL
        """
    ).fetchall()
    assert len(walls) >= 10
    for run, step, *device, wall_ns in walls:
        [(ns,)] = store_of_streams.execute(
            "SELECT sum(ns) FROM temporal_breakdown($1, $2, $2) WHERE rank = $3 AND device = $4",
            [run, step, *device],
        ).fetchall()
        assert ns == wall_ns


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

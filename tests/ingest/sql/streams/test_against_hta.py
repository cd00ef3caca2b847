"""The views of streams against the results of HTA 0.6.1 on three traces, whose times are whole µs.

HTA drops activities whose launch was not recorded, for example 614 in `nccl_training_test`. The
results for that trace either do not depend on them or were computed from the raw events.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.samples import Samples

ALEXNET, CONTROL, TEST = "alexnet_cuda_sync", "nccl_training_control", "nccl_training_test"
FILES = {ALEXNET: "hta_alexnet.json", CONTROL: "hta_control.json", TEST: "hta_test.json"}
COMPLETE = (ALEXNET, CONTROL)  # every launch was recorded
OURS = "run_id = (SELECT run_id FROM runs WHERE name = $run)"
Rows = list[tuple[Any, ...]]


class Hta:
    """The results of HTA and of the views on a run."""

    def __init__(self, expected: Path, connection: duckdb.DuckDBPyConnection, run: str) -> None:
        content = json.loads((expected / FILES[run]).read_text())
        self.exact: dict[str, int] = content["exact_from_raw"]
        self.results: dict[str, Any] = content["include_last_step"]
        self.run = run
        self._connection = connection

    def ours(self, query: str) -> Rows:
        return self._connection.execute(query.format(ours=OURS), {"run": self.run}).fetchall()


@pytest.fixture(scope="module")
def connection(sampled: Samples) -> Iterator[duckdb.DuckDBPyConnection]:
    with ingest.connect(sampled.store(*FILES)) as connection:
        yield connection


@pytest.fixture
def hta(request: pytest.FixtureRequest, samples: Path, connection: Any) -> Hta:
    return Hta(samples / "expected" / "hta", connection, request.param)


def of_runs(*runs: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("hta", runs, indirect=True)


# HTA counts the 41 waits of alexnet (`cuda_sync`) as activities, and drops orphans of the test.
@of_runs(CONTROL)
def test_temporal_breakdown(hta: Hta) -> None:
    [expected] = hta.results["temporal_breakdown"]
    kinds = ("compute", "idle", "non_compute")
    assert hta.ours(
        """
        SELECT kind, sum(ns) / 1000, round(sum(percent), 2)
        FROM temporal_breakdown() WHERE {ours} GROUP BY kind ORDER BY kind
        """
    ) == [(kind, expected[f"{kind}_time(us)"], expected[f"{kind}_time_pctg"]) for kind in kinds]


@of_runs(*FILES)
def test_temporal_breakdown_of_the_raw_events(hta: Hta) -> None:
    compute = hta.exact["noncomm_kernel_union_ns"]
    assert hta.ours(
        """
        SELECT kind, sum(ns) FROM temporal_breakdown() WHERE {ours} GROUP BY kind ORDER BY kind
        """
    ) == [
        ("compute", compute),
        ("idle", hta.exact["idle_ns"]),
        ("non_compute", hta.exact["busy_ns"] - compute),
    ]


@of_runs(*FILES)
def test_idle_time_of_streams(hta: Hta) -> None:
    # HTA ignores activities without a launch, although they end gaps of their stream.
    streams = hta.ours(
        """
        SELECT stream FROM kernels WHERE {ours} GROUP BY stream HAVING count(*) = count(launch_id)
        """
    )
    reported: dict[tuple[int, str], Any] = {}
    idle = hta.results["idle_time_breakdown_delay30us"]
    for row in idle["breakdown"] + idle["interval_stats"]:
        reported.setdefault((row["stream"], row["idle_category"]), {}).update(row)
    found = hta.ours(
        """
        SELECT
            stream, cause, idle_ns / 1000, round(percent / 100, 2), max_ns / 1000, gaps,
            round(mean_ns / 1000, 2), round(stddev_ns / 1000, 2), min_ns / 1000, median_ns / 1000
        FROM stream_idle() WHERE {ours} AND cause <> 'unknown'
        """
    )
    ours = {(stream, cause): row for stream, cause, *row in found if (stream,) in streams}
    keys = ("idle_time", "idle_time_ratio", "max", "count", "mean", "std", "min", "50%")
    expected = {
        key: [row[column] for column in keys]
        for key, row in reported.items()
        if (key[0],) in streams and row["count"]
    }
    assert len(expected) >= 4
    for key, row in expected.items():
        if row[keys.index("min")] == 0:  # HTA counts a gap where one activity touches the next
            row[3:] = ours[key][3:]
    assert ours == expected


@of_runs(*COMPLETE)
def test_combinations_of_classes(hta: Hta) -> None:
    merged = "replace(replace(word, 'memcpy', 'memory'), 'memset', 'memory')"
    found = hta.ours(
        f"""
        SELECT
            list_sort(list_distinct([{merged} FOR word IN classes])) AS joined, sum(dur_ns) / 1000
        FROM class_overlap() WHERE {{ours}} GROUP BY joined
        """
    )
    ours = {"communication": "COMMUNICATION", "compute": "COMPUTATION", "memory": "MEMORY"}
    assert {frozenset(ours[name] for name in joined): us for joined, us in found} == {
        frozenset(row["kernel_type"].split(" overlapping ")): row["sum"]
        for row in hta.results["gpu_kernel_breakdown_n10"]["kernel_type"]
    }


@of_runs(CONTROL, TEST)
def test_overlap_of_communication(hta: Hta) -> None:
    [row] = hta.ours(
        """
        SELECT communication_ns, overlapped_ns, round(percent, 2)
        FROM communication_overlap() WHERE {ours}
        """
    )
    assert row[:2] == (hta.exact["comm_union_ns"], hta.exact["overlap_ns"])
    if hta.run in COMPLETE:
        assert row[2] == hta.results["comm_comp_overlap"][0]["comp_comm_overlap_pctg"]


@of_runs(*COMPLETE)
def test_times_of_kernels(hta: Hta) -> None:
    # HTA reports a deviation of 0 for a single activity. For the kernels after the first ten it
    # reports statistics over their sums, not over activities, so only the sum is comparable.
    table = hta.results["gpu_kernel_top25_unaggregated"]
    assert len(table) >= 18
    columns = ("sum (us)", "max (us)", "min (us)", "mean (us)", "stddev")
    expected = {row["name"]: pytest.approx([row[c] for c in columns], rel=1e-12) for row in table}
    found = hta.ours(
        """
        SELECT
            name, total_ns / 1000, max_ns / 1000, min_ns / 1000,
            mean_ns / 1000, coalesce(stddev_ns, 0) / 1000
        FROM kernel_statistics() WHERE {ours}
        """
    )
    assert {name: values for name, *values in found if name in expected} == expected
    [(rest,)] = hta.ours(
        """
        SELECT total_ns / 1000 FROM kernel_statistics(top := 10) WHERE {ours} AND name IS NULL
        """
    )
    assert [rest] == [
        row["sum (us)"]
        for row in hta.results["gpu_kernel_breakdown_n10"]["top10"]
        if row["name"] == "others"
    ]


# HTA ignores graph launches, and excludes calls longer than 50 µs from the short kernels.
BY_CALL = "FROM launch_calls WHERE {ours} AND NOT is_graph_launch"
BY_API = "FROM launch_statistics() WHERE {ours} AND NOT contains(api, 'Graph')"


@of_runs(*FILES)
def test_launches(hta: Hta) -> None:
    expected = hta.results["cuda_kernel_launch_stats"]
    assert hta.ours(
        f"""
        SELECT
            sum(launches), sum(call_ns) / 1000, sum(device_ns) / 1000, sum(delay_ns) / 1000,
            sum(long_calls), sum(long_delays), sum(prompt_launches),
            (SELECT count(*) {BY_CALL} AND device_ns < dur_ns AND dur_ns <= 50000)
        {BY_API}
        """
    ) == [
        (
            *(expected["n"], *expected["sum"].values(), expected["runtime_outliers_gt50us"]),
            *(expected["launch_delay_outliers_gt100us"], expected["zero_delay"]),
            expected["short_kernels"],
        )
    ]
    for column, name in (
        ("dur_ns", "cpu_duration"),
        ("device_ns", "gpu_duration"),
        ("delay_ns", "launch_delay"),
    ):
        aggregates = ("count", "avg", "stddev_samp", "min", "median", "max")
        columns = ", ".join(f"{function}({column} / 1000)" for function in aggregates)
        described = expected["describe"][name]
        keys = ("count", "mean", "std", "min", "50%", "max")
        [row] = hta.ours(f"SELECT {columns} {BY_CALL}")
        assert row == pytest.approx([described[key] for key in keys], rel=1e-12)


@of_runs(*FILES)
def test_queues(hta: Hta) -> None:
    # HTA averages over rows, not over time, and has one row per launch and one per activity.
    found = hta.ours(
        """
        SELECT
            stream,
            2 * (launches - (
                SELECT count(DISTINCT launch_id) FROM kernels
                WHERE
                    kernels.run_id = queue.run_id
                    AND kernels.stream = queue.stream
                    AND is_graph_launch
            )),
            max_length
        FROM queue_statistics() AS queue WHERE {ours}
        """
    )
    assert {stream: values for stream, *values in found} == {
        row["stream"]: [row["queue_length|count"], row["queue_length|max"]]
        for row in hta.results["queue_length_summary"]
    }


@of_runs(*COMPLETE)
def test_bandwidth(hta: Hta) -> None:
    aggregates = ("count", "avg", "stddev_samp", "min", "median", "max")
    columns = ", ".join(f"{function}(gb_per_s)" for function in aggregates)
    found = hta.ours(
        f"""
        SELECT copy, {columns}
        FROM copy_bandwidth WHERE {{ours}} AND gb_per_s > 0 GROUP BY copy
        """
    )
    keys = ("count", "mean", "std", "min", "50%", "max")
    assert {copy: pytest.approx(values, rel=1e-9) for copy, *values in found} == {
        row["name"]: [row[f"memory_bw_gbps|{key}"] for key in keys]
        for row in hta.results["memory_bw_summary"]
    }

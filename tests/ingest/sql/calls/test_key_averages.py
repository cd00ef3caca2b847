"""torch's own tables from a store, against what torch printed, and rule by rule on small traces."""

import gzip
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.builders.events import frame, host, kernel, op
from tests.conftest import Traces

TABLES = ("key_averages", "by_shape")
REFERENCES = (
    "flux_compile_recompile",
    "flux_compiled_steady_bs5",
    "flux_eager_full",
    "flux_eager_min",
    "misc_backward_threads",
)
FIGURES = (
    "sum(calls), sum(cpu_total_ns), sum(cpu_self_ns), coalesce(sum(cpu_memory_bytes), 0), "
    "coalesce(sum(self_cpu_memory_bytes), 0), coalesce(sum(flops), 0)"
)
Rows = dict[tuple[Any, ...], tuple[int, ...]]


def printed(samples: Path, name: str, table: str) -> Rows:
    """What torch had in its table, in ns; without what it says of other threads' `fk`."""
    path = samples / "expected" / "key_averages" / f"{name}.key_averages.json.gz"
    rows = json.loads(gzip.decompress(path.read_bytes()))[table]
    return {
        (row["key"], row["is_user_annotation"], str(row["input_shapes"] or "[]")): (
            row["count"],
            round(row["cpu_time_total"] * 1000),
            round(row["self_cpu_time_total"] * 1000),
            row["cpu_memory_usage"],
            row["self_cpu_memory_usage"],
            row["flops"],
        )
        for row in rows
    }


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", REFERENCES)
def test_the_table_is_torchs_field_by_field(
    store_of_samples: duckdb.DuckDBPyConnection, samples: Path, name: str, table: str
) -> None:
    """But for `fk`, which ended on another thread: torch gives such calls no time of their own."""
    (run,) = store_of_samples.execute("SELECT run_id FROM runs WHERE name = $1", [name]).fetchall()[
        0
    ]
    source = "(SELECT *, '[]' AS input_shapes FROM key_averages WHERE run_id = $1)"
    if table == "by_shape":
        source = "key_averages_by_shape($1)"
    rows = store_of_samples.execute(
        f"SELECT name, is_annotation, input_shapes, {FIGURES} FROM {source} GROUP BY ALL", [run]
    ).fetchall()
    found: Rows = {tuple(row[:3]): tuple(map(int, row[3:])) for row in rows}
    expected = printed(samples, name, table)
    if not any(figures[-1] for figures in expected.values()):  # recorded without `with_flops`
        found = {key: (*figures[:-1], 0) for key, figures in found.items()}
    differ = {key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)}
    assert {key[0] for key in differ} == ({"fk"} if name == "misc_backward_threads" else set())


@pytest.mark.parametrize("name", ["h100_owlv2", "mi300_owlv2", "v100_resnet50_workers0"])
def test_device_time_is_that_of_what_was_launched(
    store_of_samples: duckdb.DuckDBPyConnection, name: str
) -> None:
    """Of each operator, from its kernels by launch; of all, every kernel that has a launch."""
    differ = store_of_samples.execute(
        """
        WITH expected AS (
            SELECT torch_name(ops.name, ops.category) AS name, sum(kernels.dur_ns) AS ns
            FROM kernels
            INNER JOIN ops ON ops.run_id = kernels.run_id AND ops.event_id = kernels.op_id
            INNER JOIN runs ON runs.run_id = ops.run_id AND runs.name = $1
            GROUP BY ALL
        ),
        found AS (
            SELECT key_averages.name, sum(device_self_ns) AS ns
            FROM key_averages
            INNER JOIN runs USING (run_id)
            WHERE runs.name = $1 AND NOT is_on_device
            GROUP BY ALL
            HAVING ns <> 0
        )
        SELECT name, expected.ns, found.ns
        FROM expected FULL JOIN found USING (name)
        WHERE expected.ns IS DISTINCT FROM found.ns
        """,
        [name],
    ).fetchall()
    assert differ == []


def rows(connection: duckdb.DuckDBPyConnection, columns: str, table: str = "key_averages") -> Any:
    return connection.sql(f"SELECT name, {columns} FROM {table} ORDER BY ALL").fetchall()


def test_a_call_that_only_calls_itself_again_is_counted_once(traces: Traces) -> None:
    connection = traces.add(
        [
            op("aten::to", 0, 100),
            op("aten::to", 10, 50),  # all that happens in it
            op("aten::add", 200, 100),
            op("aten::add", 210, 20),  # one of two
            op("aten::mul", 240, 20),
        ]
    )
    assert rows(connection, "calls, cpu_total_ns, cpu_self_ns") == [
        ("aten::add", 2, 120_000, 80_000),
        ("aten::mul", 1, 20_000, 20_000),
        ("aten::to", 1, 100_000, 100_000),
    ]


def test_names_are_torchs(traces: Traces) -> None:
    connection = traces.add(
        [
            host("ProfilerStep#3", "user_annotation", 0, 100),
            host("ProfilerStep#4", "user_annotation", 100, 100),
            op("aten::add.Tensor", 10, 10),
            op("aten::is_leaf", 30, 10),
            op("aten::neg", 32, 4),
            frame("a.py(3): <built-in method x of y at 0x7f01>", 50, 10),
        ]
    )
    assert rows(connection, "step, is_annotation, calls, cpu_self_ns") == [
        ("ProfilerStep*", 3, True, 1, 76_000),
        ("ProfilerStep*", 4, True, 1, 100_000),
        ("a.py(3): <built-in method x of y at 0x7f01>", 3, False, 1, 10_000),
        ("aten::add", 3, False, 1, 10_000),
        ("aten::neg", 3, False, 1, 4_000),
    ]
    paths = connection.sql("SELECT count(*), count(DISTINCT path_id) FROM call_tree").fetchall()
    assert paths == [(5, 4)]


def test_a_kernel_counts_where_it_was_launched_and_as_a_row_of_its_own(traces: Traces) -> None:
    connection = traces.add(
        [
            frame("a.py(3): f", 0, 100),
            op("aten::mm", 10, 40, args={"Input Dims": [[2, 3], [3, 5]]}),
            host("cudaLaunchKernel", "cuda_runtime", 20, 5, {"correlation": 1}),
            kernel("gemm", 60, 30, correlation=1),
        ]
    )
    columns = "is_on_device, calls, cpu_total_ns, device_total_ns, device_self_ns, flops"
    assert rows(connection, columns) == [
        ("a.py(3): f", False, 1, 100_000, 30_000, 0, None),
        ("aten::mm", False, 1, 40_000, 30_000, 30_000, 60),
        ("cudaLaunchKernel", False, 1, 5_000, 0, 0, None),
        ("gemm", True, 1, 0, 30_000, 30_000, None),
    ]
    stacks = "key_averages_by_stack((SELECT run_id FROM runs), 5)"
    assert rows(connection, "stack, calls", stacks) == [
        ("a.py(3): f", [], 1),
        ("aten::mm", ["a.py(3): f"], 1),
        ("cudaLaunchKernel", ["a.py(3): f"], 1),
        ("gemm", [], 1),
    ]


def memory(at_us: float, change: int, device_type: int = 0) -> Any:
    """An event of the allocator."""
    args = {"Bytes": change, "Device Type": device_type, "Device Id": 0, "Addr": 1}
    place = {"ph": "i", "s": "t", "pid": 1, "tid": 1, "ts": at_us}
    return {"name": "[memory]", "cat": "cpu_instant_event", **place, "args": args}


def test_memory_is_that_of_all_calls_around_it_of_any_thread(traces: Traces) -> None:
    connection = traces.add(
        [
            op("aten::empty", 10, 10),
            frame("b.py(1): g", 0, 30, tid=2),
            memory(10, 100),  # as the operator begins
            memory(20, 50, 1),  # as it ends
            memory(25, -30),
            memory(40, 7),  # during no call
        ]
    )
    columns = (
        "calls, cpu_memory_bytes, self_cpu_memory_bytes, device_memory_bytes, "
        "self_device_memory_bytes"
    )
    assert rows(connection, columns) == [
        ("[memory]", 1, 7, 7, 0, 0),
        ("aten::empty", 1, 100, 100, 50, 50),
        ("b.py(1): g", 1, 70, 70, 50, 50),
    ]


def test_what_was_not_recorded_is_null(traces: Traces) -> None:
    connection = traces.add([op("aten::mm", 0, 10)])
    columns = "device_total_ns, device_self_ns, cpu_memory_bytes, device_memory_bytes, flops"
    assert rows(connection, columns) == [("aten::mm", None, None, None, None, None)]

"""torch's own tables: against the tables that torch printed, and each rule on a small trace."""

import gzip
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.builders.events import frame, host, kernel, op
from tests.builders.relations import built

TABLES = ("key_averages", "by_shape")
REFERENCES = (
    "flux_compile_recompile",
    "flux_compiled_steady_bs5",
    "flux_eager_full",
    "flux_eager_min",
    "misc_backward_threads",
)
COLUMNS = (
    "sum(calls), sum(cpu_total_ns), sum(cpu_self_ns), coalesce(sum(cpu_memory_bytes), 0), "
    "coalesce(sum(self_cpu_memory_bytes), 0), coalesce(sum(flops), 0)"
)
Rows = dict[tuple[Any, ...], tuple[int, ...]]


def torch_table(samples: Path, name: str, table: str) -> Rows:
    """Return torch's table as key → values, with times in ns."""
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
def test_the_table_equals_torchs_in_every_field(
    store_of_samples: duckdb.DuckDBPyConnection, samples: Path, name: str, table: str
) -> None:
    """Torch counts no self time for calls that end on another thread, such as `fk`."""
    (run,) = store_of_samples.execute("SELECT run_id FROM runs WHERE name = $1", [name]).fetchall()[
        0
    ]
    source = "(SELECT *, '[]' AS input_shapes FROM key_averages WHERE run_id = $1)"
    if table == "by_shape":
        source = "key_averages_by_shape($1)"
    rows = store_of_samples.execute(
        f"SELECT name, is_annotation, input_shapes, {COLUMNS} FROM {source} GROUP BY ALL", [run]
    ).fetchall()
    found: Rows = {tuple(row[:3]): tuple(map(int, row[3:])) for row in rows}
    expected = torch_table(samples, name, table)
    if not any(values[-1] for values in expected.values()):  # recorded without `with_flops`
        found = {key: (*values[:-1], 0) for key, values in found.items()}
    differ = {key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)}
    assert {key[0] for key in differ} == ({"fk"} if name == "misc_backward_threads" else set())


@pytest.mark.parametrize("name", ["h100_owlv2", "mi300_owlv2", "v100_resnet50_workers0"])
def test_device_time_is_the_time_of_the_launched_kernels(
    store_of_samples: duckdb.DuckDBPyConnection, name: str
) -> None:
    """Each operator has the time of its kernels, and every kernel with a launch is counted."""
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


def by_stack(frames: int) -> str:
    return f"key_averages_by_stack((SELECT run_id FROM runs), {frames})"


def test_a_call_that_contains_only_a_call_of_its_name_counts_once() -> None:
    connection = built(
        [
            op("aten::to", 0, 100),
            op("aten::to", 10, 50),  # the only call inside
            op("aten::add", 200, 100),
            op("aten::add", 210, 20),  # one of two calls inside
            op("aten::mul", 240, 20),
        ]
    )
    assert rows(connection, "calls, cpu_total_ns, cpu_self_ns") == [
        ("aten::add", 2, 120_000, 80_000),
        ("aten::mul", 1, 20_000, 20_000),
        ("aten::to", 1, 100_000, 100_000),
    ]


def test_names_are_as_in_torchs_tables() -> None:
    connection = built(
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


def test_a_kernel_counts_in_its_launching_calls_and_in_its_own_row() -> None:
    connection = built(
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
    assert rows(connection, "stack, calls", by_stack(5)) == [
        ("a.py(3): f", [], 1),
        ("aten::mm", ["a.py(3): f"], 1),
        ("cudaLaunchKernel", ["a.py(3): f"], 1),
        ("gemm", [], 1),
    ]


def test_a_recursive_function_counts_under_its_outermost_call() -> None:
    """As torch's table does: `rec` calls only itself, until it calls `done` twice."""
    connection = built(
        [
            frame("a.py(9): main", 0, 100),
            frame("a.py(1): rec", 10, 80),
            frame("a.py(1): rec", 20, 60),
            frame("a.py(1): rec", 30, 40),
            frame("done", 40, 5),
            frame("done", 50, 5),
        ]
    )
    for frames in (1, 3):
        main, *recs = ["a.py(9): main", *3 * ["a.py(1): rec"]]
        assert rows(connection, "stack, calls, cpu_total_ns, cpu_self_ns", by_stack(frames)) == [
            (recs[0], [main], 1, 80_000, 70_000),
            (main, [], 1, 100_000, 20_000),
            ("done", recs[:frames], 2, 10_000, 10_000),
        ]


def test_stacks_leave_out_the_frames_that_torch_leaves_out() -> None:
    connection = built(
        [
            frame("a.py(9): main", 0, 100),
            frame("torch/_tensor.py(566): backward", 5, 90),
            frame("torch/autograd/__init__.py(255): backward", 10, 80),
            frame("torch/autograd/graph.py(966): _engine_run_backward", 20, 60),
            op("aten::mm", 30, 10),
        ]
    )
    assert [stack for name, stack in rows(connection, "stack", by_stack(3)) if "mm" in name] == [
        [
            "torch/autograd/graph.py(966): _engine_run_backward",
            "torch/_tensor.py(566): backward",
            "a.py(9): main",
        ]
    ]


def memory(ts: float, change: int, device_type: int = 0) -> Any:
    """Return an event of the allocator."""
    args = {"Bytes": change, "Device Type": device_type, "Device Id": 0, "Addr": 1}
    instant = {"ph": "i", "s": "t", "pid": 1, "tid": 1, "ts": ts}
    return {"name": "[memory]", "cat": "cpu_instant_event", **instant, "args": args}


def test_memory_counts_in_all_open_calls_of_all_threads() -> None:
    connection = built(
        [
            op("aten::empty", 10, 10),
            frame("b.py(1): g", 0, 30, tid=2),
            memory(10, 100),  # when the operator begins
            memory(20, 50, 1),  # when it ends
            memory(25, -30),
            memory(40, 7),  # outside all calls
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


def test_values_that_were_not_recorded_are_null() -> None:
    connection = built([op("aten::mm", 0, 10)])
    columns = "device_total_ns, device_self_ns, cpu_memory_bytes, device_memory_bytes, flops"
    assert rows(connection, columns) == [("aten::mm", None, None, None, None, None)]

"""A store of many runs: a query on one run opens only the files of that run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from ingest import sql
from tests.builders.megengine import CPU, Opr, chunk, profile, variable

LEVELS = ("op", "leaf", "kernel")
ACROSS_RUNS = {"trend", "parts"}  # trend reads small files of each run, parts reads no file


@pytest.fixture(scope="module")
def several_runs(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    directory = tmp_path_factory.mktemp("many")
    store = ingest.Store(directory / "store")
    for name in ("first", "second", "third"):
        file = directory / f"{name}.json"
        launch = {"name": "cudaLaunchKernel", "ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1}
        kernel = {"name": name, "ph": "X", "cat": "kernel", "pid": 0, "tid": 7}
        link = {"correlation": 1, "device": 0, "stream": 7}
        op = {"name": "aten::mm", "ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1}
        events = [
            {**op, "ts": 0, "dur": 20},
            {**launch, "ts": 5, "dur": 5, "args": {"correlation": 1}},
            {**kernel, "ts": 15, "dur": 5, "args": link},
            {**kernel, "ts": 30, "dur": 5, "args": link},
        ]
        file.write_text(json.dumps({"traceEvents": events}))
        store.add(file)
    return ingest.connect(store.path)


def files_read(connection: duckdb.DuckDBPyConnection, query: str) -> list[int]:
    """Return the number of files that each scan of the query opens."""
    plan = connection.execute(f"EXPLAIN (ANALYZE, FORMAT json) {query}").fetchall()[0][1]
    return [int(scan["Total Files Read"]) for scan in scans(json.loads(plan))]


def scans(node: Any) -> Iterator[dict[str, str]]:
    if isinstance(node, dict):
        if "Total Files Read" in node:
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from scans(child)


@pytest.mark.parametrize(
    "name", sorted({file.name for file in (*sql.tables(), *sql.views())} - ACROSS_RUNS)
)
def test_a_query_on_one_run_opens_no_file_of_another(
    several_runs: duckdb.DuckDBPyConnection, name: str
) -> None:
    (run_id,) = several_runs.execute("SELECT max(run_id) FROM runs").fetchall()[0]
    query = f"SELECT * FROM {name} WHERE run_id = '{run_id}'"
    columns = [row[0] for row in several_runs.execute(f"DESCRIBE {name}").fetchall()]
    levels = [f" AND level = '{level}'" for level in LEVELS] if "level" in columns else []
    for condition in ("", *levels):
        counts = files_read(several_runs, query + condition)
        assert counts, condition
        assert set(counts) <= {0, 1}, condition  # 0: no run has such rows


@pytest.fixture(scope="module")
def several_graphs(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A connection to a store of three MegEngine runs."""
    directory = tmp_path_factory.mktemp("graphs")
    store = ingest.Store(directory / "store")
    for name in ("first", "second", "third"):
        file = directory / f"{name}.json"
        opr = Opr("1", name=name, device={CPU: (0, 0, 1)}, reads=["x"], writes=["y"])
        x, y = variable(CPU, "chk0"), variable(CPU, address=(64, 128))
        chunks = {"chk0": chunk(16, "x", 4096)}
        file.write_text(profile(opr, var={"x": x, "y": y}, mem_chunk=chunks))
        store.add(file)
    return ingest.connect(store.path)


@pytest.mark.parametrize(
    "relation",
    [
        "megengine_types",
        "megengine_comp_node_times",
        "megengine_memory",
        "megengine_memory_over_order",
        "megengine_records(input_dtype := 'Float32')",
        "megengine_record_groups('sum', input_dtype := 'Float32')",
    ],
)
def test_a_query_on_one_graph_opens_no_file_of_another(
    several_graphs: duckdb.DuckDBPyConnection, relation: str
) -> None:
    (run_id,) = several_graphs.execute("SELECT max(run_id) FROM runs").fetchall()[0]
    query = f"SELECT * FROM {relation} WHERE run_id = '{run_id}'"
    assert several_graphs.execute(query).fetchall()
    assert max(files_read(several_graphs, query)) <= 1


@pytest.mark.parametrize("name", ["run_diff", "comparability", "op_diff", "kernel_diff"])
def test_a_comparison_of_two_runs_opens_no_file_of_another(
    several_runs: duckdb.DuckDBPyConnection, name: str
) -> None:
    base, other = several_runs.execute("SELECT min(run_id), max(run_id) FROM runs").fetchall()[0]
    counts = files_read(several_runs, f"FROM {name}('{base}', '{other}')")
    assert counts
    assert max(counts) <= 2


def test_a_connection_is_the_same_without_the_catalog_file(
    several_runs: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    described = "SELECT table_name, column_name, comment FROM duckdb_columns() ORDER BY ALL"
    store = ingest.Store(tmp_path / "store")
    copied = ingest.connect(store.path).execute(described).fetchall()
    (store.path / "catalog.duckdb").write_bytes(b"no database")
    defined = ingest.connect(store.path).execute(described).fetchall()
    assert copied == defined == several_runs.execute(described).fetchall()

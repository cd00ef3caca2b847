"""A store of many runs: a query on one run opens only the files of that run."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from ingest import sql
from tests.builders.events import host, kernel, op
from tests.builders.megengine import CPU, Opr, chunk, profile, variable

LEVELS = ("op", "leaf", "kernel")
# `trend` reads small files of each run; the others read no file.
ACROSS_RUNS = {"trend", "advice_kinds", "device_models", "parts", "work_formulas"}


def several(store: ingest.Store, file: Path) -> duckdb.DuckDBPyConnection:
    """Add a file, and copy its run in as two more. Return a connection to the store."""
    run = store.run_path(store.add(file).run_id)
    runs = store.path / "runs" / sql.schema_version()
    for name in ("second", "third"):
        shutil.copytree(run, runs / f"run_id={name}-12345678", copy_function=os.link)
    store.refresh()
    assert len(store.run_ids()) == 3
    return ingest.connect(store.path)


@pytest.fixture(scope="module")
def several_runs(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A connection to a store of three runs with a device."""
    directory = tmp_path_factory.mktemp("many")
    events = [
        op("aten::mm", 0, 20),
        host("cudaLaunchKernel", "cuda_runtime", 5, 5, {"correlation": 1}),
        kernel("gemm", 15, 5, correlation=1),
        kernel("gemm", 30, 5, correlation=1),
    ]
    file = directory / "first.json"
    file.write_text(json.dumps({"traceEvents": events}))
    return several(ingest.Store(directory / "store"), file)


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


def test_a_query_on_one_run_opens_no_file_of_another(
    several_runs: duckdb.DuckDBPyConnection,
) -> None:
    (run_id,) = several_runs.execute("SELECT max(run_id) FROM runs").fetchall()[0]
    with_level = {
        name
        for (name,) in several_runs.execute(
            "SELECT table_name FROM duckdb_columns() WHERE column_name = 'level'"
        ).fetchall()
    }
    names = {file.name for file in (*sql.tables(), *sql.views())} - ACROSS_RUNS
    assert names & with_level
    wrong = []
    for name in sorted(names):
        levels = [f" AND level = '{level}'" for level in LEVELS if name in with_level]
        for condition in ("", *levels):
            query = f"SELECT * FROM {name} WHERE run_id = '{run_id}'{condition}"
            counts = files_read(several_runs, query)
            if not counts or not set(counts) <= {0, 1}:  # 0: no run has such rows
                wrong.append((query, counts))
    assert wrong == []


@pytest.fixture(scope="module")
def several_graphs(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A connection to a store of three MegEngine runs."""
    directory = tmp_path_factory.mktemp("graphs")
    opr = Opr("1", name="first", device={CPU: (0, 0, 1)}, reads=["x"], writes=["y"])
    x, y = variable(CPU, "chk0"), variable(CPU, address=(64, 128))
    chunks = {"chk0": chunk(16, "x", 4096)}
    file = directory / "first.json"
    file.write_text(profile(opr, var={"x": x, "y": y}, mem_chunk=chunks))
    return several(ingest.Store(directory / "store"), file)


OF_GRAPHS = [
    "megengine_types",
    "megengine_comp_node_times",
    "megengine_memory",
    "megengine_memory_over_order",
    "megengine_records(input_dtype := 'Float32')",
    "megengine_record_groups('sum', input_dtype := 'Float32')",
]


def test_a_query_on_one_graph_opens_no_file_of_another(
    several_graphs: duckdb.DuckDBPyConnection,
) -> None:
    (run_id,) = several_graphs.execute("SELECT max(run_id) FROM runs").fetchall()[0]
    found = {}
    for relation in OF_GRAPHS:
        query = f"SELECT * FROM {relation} WHERE run_id = '{run_id}'"
        has_rows = bool(several_graphs.execute(query).fetchall())
        found[relation] = (has_rows, max(files_read(several_graphs, query)) <= 1)
    assert found == dict.fromkeys(OF_GRAPHS, (True, True))


def test_a_comparison_of_two_runs_opens_no_file_of_another(
    several_runs: duckdb.DuckDBPyConnection,
) -> None:
    base, other = several_runs.execute("SELECT min(run_id), max(run_id) FROM runs").fetchall()[0]
    comparisons = ("run_diff", "comparability", "op_diff", "kernel_diff")
    counts = {
        name: files_read(several_runs, f"FROM {name}('{base}', '{other}')") for name in comparisons
    }
    assert [name for name, read in counts.items() if not read or max(read) > 2] == []


def test_a_connection_is_the_same_without_the_catalog_file(
    several_runs: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    described = "SELECT table_name, column_name, comment FROM duckdb_columns() ORDER BY ALL"
    store = ingest.Store(tmp_path / "store")
    copied = ingest.connect(store.path).execute(described).fetchall()
    (store.path / "catalog.duckdb").write_bytes(b"no database")
    defined = ingest.connect(store.path).execute(described).fetchall()
    assert copied == defined == several_runs.execute(described).fetchall()

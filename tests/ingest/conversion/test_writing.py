"""Writing of tables as Parquet: the rows do not depend on the way of writing."""

import shutil
from collections import defaultdict
from pathlib import Path

import duckdb
import pytest

import ingest
from ingest.conversion import build, critical_path, parquet
from tests.helpers.samples import COMPILED, TWO_RANKS, Samples

# The compared columns of a table: all except the time when the run was added.
COLUMNS = defaultdict(lambda: "*") | dict.fromkeys(
    ("runs.parquet", "run_overview.parquet"), "* EXCLUDE (ingested_at)"
)
ROWS = "SELECT * EXCLUDE (run_id) FROM events ORDER BY event_id"


def test_events_written_in_slices_are_the_same(
    sampled: Samples, store: ingest.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for trace in sampled.files(TWO_RANKS):
        shutil.copy(trace, run)
    # Rows of a file share a range, and a range is never split.
    monkeypatch.setattr(parquet, "SLICE_ROWS", 1)
    store.add(run)

    at_once = ingest.connect(sampled.store(TWO_RANKS))
    expected, found = (each.sql(ROWS).fetchall() for each in (at_once, ingest.connect(store.path)))

    complete = at_once.sql("SELECT sum(complete_events) FROM sources").fetchall()
    assert [(len(expected),)] == complete
    assert found == expected


@pytest.mark.parametrize("run", ["train_ctx128", COMPILED])
def test_tables_do_not_depend_on_the_number_of_workers(
    sampled: Samples, tmp_path: Path, run: str
) -> None:
    source = tmp_path / "run"
    source.mkdir()
    for file in sampled.files(run):
        shutil.copy(file, source)
    one, two = (ingest.Store(tmp_path / f"threads{threads}") for threads in (1, 2))
    one.add(source, threads=1)
    two.add(source, threads=2)
    directories = [store.run_path(store.find("run")) for store in (one, two)]
    written, again = ({file.name for file in each.glob("*.parquet")} for each in directories)
    assert written == again
    assert {"events.parquet", "memory_allocations.parquet"} & written
    for name in written:
        first, second = (f"(SELECT {COLUMNS[name]} FROM '{each / name}')" for each in directories)
        differing = f"({first} EXCEPT ALL {second}) UNION ALL ({second} EXCEPT ALL {first})"
        assert duckdb.sql(f"SELECT count(*) FROM ({differing})").fetchall() == [(0,)], name


def test_a_step_that_runs_out_of_memory_beside_another_runs_again_alone(
    sampled: Samples, store: ingest.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = "h100_owlv2"
    running: list[str] = []
    beside: list[list[str]] = []  # what ran when each attempt began
    fill = build._fill

    def noted(connection: duckdb.DuckDBPyConnection, task: build.Task) -> set[str]:
        name = task.nodes[0].name
        running.append(name)
        try:
            return fill(connection, task)
        finally:
            running.remove(name)

    def find_paths(connection: duckdb.DuckDBPyConnection, *names: tuple[str, ...]) -> None:
        beside.append([name for name in running if not name.startswith("path_")])
        critical_path.find_paths(connection, *names)
        if len(beside) == 1:
            raise duckdb.OutOfMemoryException("no memory")

    monkeypatch.setattr(build, "_fill", noted)
    monkeypatch.setattr(build, "STEPS", {**build.STEPS, "find_paths": find_paths})
    [trace] = sampled.files(run)
    store.add(trace, threads=2)
    assert len(beside) == 2
    assert beside[1] == []
    for table in ("critical_paths", "critical_path_gains"):
        query = f"SELECT * EXCLUDE (run_id) FROM {table}"
        rows = f"SELECT count(*), bit_xor(hash(row)) FROM ({query}) AS row"
        expected, found = (
            ingest.connect(path).sql(rows).fetchall() for path in (sampled.store(run), store.path)
        )
        assert found == expected

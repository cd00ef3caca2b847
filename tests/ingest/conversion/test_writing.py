"""Writing of tables as Parquet: the rows do not depend on the way of writing."""

import shutil
import threading
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from ingest.conversion import build, critical_path, parquet
from ingest.formats import FORMATS, Source
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
    assert {"events.parquet", "memory_allocations.parquet"} & same_tables(one, two)


def test_tables_do_not_depend_on_which_file_is_read_first(
    sampled: Samples, samples: Path, tmp_path: Path
) -> None:
    """The first file has two processes, and is read after the others, at the same time."""
    source = tmp_path / "run"
    source.mkdir()
    shutil.copy(samples / "field" / "05_own_export_of_two_ranks.json", source / "a.json")
    shutil.copy(samples / "field" / "05_merged_ranks.json", source / "b.json")
    for file in sampled.files(TWO_RANKS):
        shutil.copy(file, source)
    others_are_read = threading.Barrier(4, timeout=60)

    def load(source: Source, *args: Any) -> None:
        if source.name == "a.json":
            others_are_read.wait()
        kineto.load(source, *args)
        if source.name != "a.json":
            others_are_read.wait()

    [kineto] = [each for each in FORMATS if each.is_chrome_trace and each.framework == "pytorch"]
    formats = [replace(each, load=load) if each is kineto else each for each in FORMATS]
    one, four = (ingest.Store(tmp_path / f"threads{threads}") for threads in (1, 4))
    one.add(source, threads=1)
    added = four.add(source, threads=4, formats=formats)
    assert [source.source_id for source in added.sources] == [0, 1, 2, 3, 4, 5]
    assert "events.parquet" in same_tables(one, four)


def same_tables(*stores: ingest.Store) -> set[str]:
    """Check that two stores have the same rows of a run. Return the names of the tables."""
    directories = [store.run_path(store.find("run")) for store in stores]
    written, again = ({file.name for file in each.glob("*.parquet")} for each in directories)
    assert written == again
    for name in written:
        first, second = (f"(SELECT {COLUMNS[name]} FROM '{each / name}')" for each in directories)
        differing = f"({first} EXCEPT ALL {second}) UNION ALL ({second} EXCEPT ALL {first})"
        assert duckdb.sql(f"SELECT count(*) FROM ({differing})").fetchall() == [(0,)], name
    return written


def test_a_step_that_runs_out_of_memory_alone_runs_again_with_more(
    sampled: Samples, store: ingest.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[str] = []

    def nest(connection: duckdb.DuckDBPyConnection, *names: tuple[str, ...]) -> None:
        limits.append(connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])
        if len(limits) == 1:
            raise duckdb.OutOfMemoryException("no memory")
        build_steps["nest"](connection, *names)

    build_steps = build.STEPS
    monkeypatch.setattr(build, "STEPS", {**build.STEPS, "nest": nest})
    [trace] = sampled.files("two_rank_rank0")
    run = store.add(trace, threads=1)
    assert limits[:2] == ["488.2 MiB", "3.7 GiB"]
    assert [source.status for source in run.sources] == ["ok"]


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

"""The store: its content, and adding, finding and removing runs."""

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from ingest import AddOptions, sql
from ingest.errors import StoreError
from tests.helpers.samples import Samples

EVENT = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1}
# Lists that do not depend on the runs.
CONSTANT = {"advice_kinds", "device_models", "parts", "work_formulas"}
COLLIDING = (29141, 105589)  # durations whose traces have checksums with equal first 8 digits


def test_an_empty_store_has_every_table_and_view_empty(tmp_path: Path) -> None:
    connection = ingest.connect(tmp_path / "new")
    for file in (*sql.tables(), *sql.views()):
        is_empty = not connection.sql(f"FROM {file.name}").fetchall()
        assert is_empty or file.name in CONSTANT


def test_the_catalog_opens_in_any_duckdb(samples: Path, store: ingest.Store) -> None:
    catalog = store.path / "catalog.duckdb"
    ingest.connect(store).close()
    with duckdb.connect(str(catalog), read_only=True) as empty:
        assert empty.sql("SELECT count(*) FROM events").fetchall() == [(0,)]
        run_id = store.add(samples / "traces" / "cpu_only.json.gz").run_id
        assert empty.sql("SELECT run_id, events FROM run_overview").fetchall() == [(run_id, 16)]
        comments = empty.sql("SELECT comment FROM duckdb_views() WHERE view_name = 'runs'")
        assert comments.fetchall() == [("Runs in the store. One row: a run.",)]


def test_a_removed_run_is_in_no_table(sampled: Samples, store: ingest.Store) -> None:
    kept, gone = sampled.add(store, "cpu_only", "cupti_counters")
    connection = ingest.connect(store.path)
    assert store.run_ids() == [kept, gone]
    store.remove(gone)
    assert store.run_ids() == [kept]
    for table in sql.tables():
        assert connection.sql(f"SELECT DISTINCT run_id FROM {table.name}").fetchall() in (
            [(kept,)],
            [],
        )
    with pytest.raises(StoreError, match="no such run"):
        store.remove(gone)


def test_a_failed_add_leaves_nothing(
    samples: Path, store: ingest.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(store.path.rglob("*"))

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("ingest.conversion.run._fill_run", fail)
    with pytest.raises(MemoryError):
        store.add(samples / "traces" / "cpu_only.json.gz")
    assert sorted(store.path.rglob("*")) == before


def test_a_moved_store_still_opens(sampled: Samples, tmp_path: Path) -> None:
    sampled.add(ingest.Store(tmp_path / "old"), "cpu_only")
    ingest.connect(tmp_path / "old").close()
    shutil.move(tmp_path / "old", tmp_path / "moved it's")
    connection = ingest.connect(tmp_path / "moved it's")
    with duckdb.connect(str(tmp_path / "moved it's" / "catalog.duckdb"), read_only=True) as other:
        assert other.sql("SELECT count(*) FROM events").fetchall() == [(16,)]
    assert connection.sql("SELECT count(*) FROM events").fetchall() == [(16,)]


@pytest.mark.parametrize("name", ["rank=7", "a[1]", "what?"])
def test_a_path_that_duckdb_would_read_as_a_pattern_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot contain any of"):
        ingest.Store(tmp_path / name / "store")
    assert not (tmp_path / name).exists()


def test_a_file_is_not_a_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        ingest.connect(tmp_path / "file")


def test_joins_over_many_runs_need_little_memory(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    store_of_samples.execute("SET memory_limit = '1GB'")
    rows = store_of_samples.sql(
        """
        SELECT count(*) FROM kernels
        JOIN events ON kernels.run_id = events.run_id AND kernels.event_id = events.event_id
        JOIN events AS op ON op.run_id = kernels.run_id AND op.event_id = kernels.op_id
        """
    )
    linked = store_of_samples.sql("SELECT count(op_id) FROM kernels")
    assert rows.fetchall() == linked.fetchall()


def test_a_directory_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="the directory is not empty and not a store"):
        ingest.connect(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("name", ["'; DROP TABLE runs; --", "../../etc", "<script>", ""])
def test_names_are_escaped_in_paths_and_queries(
    name: str, samples: Path, store: ingest.Store
) -> None:
    labels = AddOptions(name=name, tags={name: name})
    run_id = store.add(samples / "traces" / "cpu_only.json.gz", labels).run_id
    assert store.run_path(run_id).name == f"run_id={run_id}"
    rows = ingest.connect(store.path).sql("SELECT run_id, name, tags FROM runs").fetchall()
    assert rows == [(run_id, name or "cpu_only", {name: name})]


def test_paths_with_odd_characters_are_read(samples: Path, tmp_path: Path) -> None:
    directory = tmp_path / "it's a run; 名前 $1"
    directory.mkdir()
    shutil.copy(samples / "traces" / "cpu_only.json.gz", directory / "tr'ace \".json.gz")
    store = ingest.Store(tmp_path / "st'ore 名")
    store.add(directory)
    rows = ingest.connect(store.path).sql("SELECT path, complete_events FROM sources").fetchall()
    assert rows == [(str(directory / "tr'ace \".json.gz"), 16)]


def test_an_outdated_catalog_is_written_again(sampled: Samples, tmp_path: Path) -> None:
    store = ingest.Store(tmp_path / "store")
    sampled.add(store, "cpu_only")
    ingest.connect(store.path).close()
    stamp = (store.path / "schema").read_text()
    for other in ("", "of another version", stamp.split()[0] + " other views"):
        (store.path / "schema").write_text(other)
        (store.path / "catalog.duckdb").unlink()
        assert ingest.connect(store.path).sql("SELECT count(*) FROM events").fetchall() == [(16,)]
        assert (store.path / "schema").read_text() == stamp
        with duckdb.connect(str(store.path / "catalog.duckdb"), read_only=True) as catalog:
            assert catalog.sql("SELECT events FROM run_overview").fetchall() == [(16,)]


def test_a_name_or_the_beginning_of_an_id_finds_a_run(samples: Path, store: ingest.Store) -> None:
    """`find_exactly` needs a full id or name."""
    trace = samples / "traces" / "cpu_only.json.gz"
    run_id = store.add(trace, AddOptions(name="First Try!")).run_id
    assert {store.find(name) for name in ("First Try!", "first-try", "fir")} == {run_id}
    for reference in ("", "!!!", "名前", "cpu"):
        with pytest.raises(StoreError, match="no such run"):
            store.find(reference)
    for beginning in ("f", "first", run_id[:-1], run_id + "0", "", "!!!"):
        with pytest.raises(StoreError, match=r"no such run|did you mean first-try-"):
            store.find_exactly(beginning)
    assert {store.find_exactly(name) for name in (run_id, "first-try", "First Try!")} == {run_id}
    store.add(samples / "traces" / "cupti_counters.json.gz", AddOptions(name="first try"))
    with pytest.raises(StoreError, match="first-try: ambiguous; matches 2 runs"):
        store.find_exactly("first-try")


@pytest.mark.parametrize(
    ("name", "other", "begins"),
    [
        ("日本", "中国", "日本-"),
        ("Ωmega \u202e run/..", "amega run", "ωmega-run-"),
        ("Cafe\u0301", "Cafe", "café-"),
        ("名" * 200, "山", "名" * 53 + "-"),
    ],
)
def test_a_name_in_any_script_finds_its_run(
    name: str, other: str, begins: str, samples: Path, store: ingest.Store
) -> None:
    labels = AddOptions(name=name, tags={name: name})
    run_id = store.add(samples / "traces" / "cpu_only.json.gz", labels).run_id
    assert run_id.startswith(begins)
    assert store.run_path(run_id).name == f"run_id={run_id}"
    assert store.find(name) == store.find_exactly(name) == store.find(run_id) == run_id
    with pytest.raises(StoreError, match="no such run"):
        store.find_exactly(other)
    rows = ingest.connect(store.path).sql("SELECT run_id, name, tags FROM run_overview").fetchall()
    assert rows == [(run_id, name, {name: name})]
    store.remove(run_id)
    assert store.run_ids() == []


def test_runs_whose_checksums_begin_alike_get_different_ids(traces: Any) -> None:
    one, other = (
        traces.write([{**EVENT, "dur": number}], name=f"trace{number}") for number in COLLIDING
    )
    ids = [traces.store.add(path).run_id for path in (one, other)]
    assert [len(run_id.rpartition("-")[2]) for run_id in ids] == [8, 16]
    assert ids[1].rpartition("-")[2].startswith(ids[0].rpartition("-")[2])
    again = [traces.store.add(path) for path in (one, other)]
    assert [(added.run_id, added.is_new) for added in again] == [(i, False) for i in ids]
    assert traces.store.find(ids[0]) == ids[0]

"""Damage to a store affects only the damaged run."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import ingest
from ingest import sql
from tests.builders.events import host, kernel, op
from tests.conftest import Traces
from tests.helpers.command import Command
from tests.helpers.stores import is_at_rest

DAMAGED, INTACT = "damaged", "intact"
pytestmark = pytest.mark.slow  # damages every file of a run
VIEWS = ("run_overview", "run_metrics", "step_parts", "advice", "trend")


def _empty(run: Path) -> None:
    for file in run.iterdir():
        file.unlink()


def _fill_with_zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


UNREPAIRABLE = "empty directory"  # the path of the original files is lost
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    UNREPAIRABLE: (_empty, "manifest.json is missing"),
    "no manifest": (lambda run: (run / "manifest.json").unlink(), "manifest.json is missing"),
    "lost table": (lambda run: (run / "kernels.parquet").unlink(), "kernels.parquet is missing"),
    "cut table": (lambda run: (run / "events.parquet").write_bytes(b"PAR1"), "events.parquet"),
    "a directory": (
        lambda run: ((run / "ops.parquet").unlink(), (run / "ops.parquet").mkdir()),
        "ops.parquet",
    ),
}


@pytest.fixture(scope="module")
def intact(shared_traces: Traces) -> ingest.Store:
    """A store of two runs with device activities. Tests copy it."""
    for name in (DAMAGED, INTACT):
        events = [
            host("ProfilerStep#1", "user_annotation", 0, 90),
            op("aten::mm", 5, 30),
            host("cudaLaunchKernel", "cuda_runtime", 10, 5, {"correlation": 1}),
            kernel(name, 40, 20, correlation=1),
        ]
        shared_traces.store.add(shared_traces.write(events, name))
    return shared_traces.store


@pytest.fixture(scope="module")
def before(intact: ingest.Store) -> dict[str, int]:
    """The number of rows of each table and view without damage."""
    return rows(intact.path)


@pytest.fixture
def store(intact: ingest.Store, tmp_path: Path) -> ingest.Store:
    """A copy of the store, for exclusive use by the test."""
    return ingest.Store(shutil.copytree(intact.path, tmp_path / "store"))


@pytest.fixture
def directory(store: ingest.Store) -> Path:
    """The directory of the first of two runs, which is also the first by name."""
    return store.run_path(store.find(DAMAGED))


def rows(store: Path) -> dict[str, int]:
    """Return the number of rows of each table, and of views that read few or many of them."""
    names = (*(table.name for table in sql.tables()), *VIEWS)
    counts = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in names)
    with ingest.connect(store) as connection:
        return dict(connection.execute(counts).fetchall())


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_does_not_affect_others(
    kind: str,
    directory: Path,
    store: ingest.Store,
    before: dict[str, int],
    command: Command,
) -> None:
    damage, message = DAMAGE[kind]
    intact, run_id = store.find(INTACT), store.find(DAMAGED)
    damage(directory)
    command("sql", "SELECT count(*) FROM events, ops, kernels, runs")  # detects any damage
    for arguments in (["list"], ["show", INTACT], ["top", INTACT], ["sql", "FROM advice"]):
        done = command(*arguments)
        assert done.code == 0
        assert done.err.startswith(f"warning: run {run_id} is left out: ")
        assert message in done.err
        assert "run `ingest check --repair`" in done.err
        assert done.err.count("\n") == 1
    for arguments in (["show", run_id], ["top", DAMAGED], ["memory", run_id]):
        done = command(*arguments)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
        assert done.err.startswith(f"error: {run_id}: ")
    left = rows(store.path)
    with ingest.connect(store.path) as connection:
        assert connection.execute("SELECT run_id FROM runs").fetchall() == [(intact,)]
        assert connection.execute("SELECT DISTINCT run_id FROM events").fetchall() == [(intact,)]
    with duckdb.connect(str(store.path / "catalog.duckdb"), read_only=True) as other:
        assert other.execute("SELECT DISTINCT run_id FROM kernels").fetchall() == [(intact,)]
    assert command("check").code == 1
    repaired = command("check", "--repair")
    if kind == UNREPAIRABLE:
        assert (repaired.code, repaired.err.count("\n")) == (1, 1)
        assert rows(store.path) == left
    else:
        assert (repaired.code, repaired.err) == (0, "")
        assert rows(store.path) == before != left


@pytest.mark.parametrize("name", ["manifest.json", "runs.parquet"])
def test_check_finds_damage_that_no_query_detects(
    name: str, directory: Path, store: ingest.Store, command: Command
) -> None:
    assert command("check").out.split("\n")[0] == "2 runs intact"
    _fill_with_zeros(directory / name)
    done = command("check")
    assert done.code == 1
    assert done.out.startswith(f"1 run intact\n{store.find_exactly(DAMAGED)}: {name} ")


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
def test_a_query_that_reads_a_damaged_file_of_the_right_size_leaves_the_run_out(
    directory: Path, store: ingest.Store, command: Command
) -> None:
    connection = ingest.connect(store)
    intact, run_id = store.find(INTACT), store.find(DAMAGED)
    _fill_with_zeros(directory / "kernels.parquet")
    query = "SELECT DISTINCT run_id FROM kernels"
    with pytest.warns(ingest.StoreWarning, match=rf"{run_id} is left out: kernels.parquet"):
        found = ingest.read(connection, lambda: connection.execute(query).fetchall())
    assert found == [(intact,)]
    _fill_with_zeros(directory / "events.parquet")
    done = command("sql", query)
    assert (done.code, done.out.split()[-1]) == (0, intact)


def test_a_damaged_run_without_original_files_is_only_removed_on_request(
    traces: Traces, command: Command
) -> None:
    trace = traces.write([op("a")])
    others = traces.store.run_ids()
    run_id = traces.store.add(trace).run_id
    trace.unlink()
    (traces.store.run_path(run_id) / "ops.parquet").unlink()
    done = command("check", "--repair")
    assert done.code == 1
    assert f"error: {run_id}: cannot read its original files: {trace}: no such file" in done.err
    assert traces.store.run_path(run_id).is_dir()
    assert command("check", "--remove").code == 0
    assert traces.store.run_ids() == others


@pytest.mark.parametrize("name", ["catalog.duckdb", "schema"])
def test_a_damaged_catalog_is_written_again(
    name: str, store: ingest.Store, before: dict[str, int], command: Command
) -> None:
    for content in (None, b"", b"no database"):
        if content is None:
            (store.path / name).unlink()
        else:
            (store.path / name).write_bytes(content)
        done = command("list")
        assert (content, done.code, done.err) == (content, 0, "")
        assert (content, rows(store.path)) == (content, before)
        with duckdb.connect(str(store.path / "catalog.duckdb"), read_only=True) as other:
            found = other.execute("SELECT count(*) FROM runs").fetchall()
        assert (content, found) == (content, [(2,)])


def test_lost_and_damaged_empty_tables_are_written_again(
    store: ingest.Store, before: dict[str, int], command: Command
) -> None:
    empty = store.path / "runs" / sql.schema_version() / "run_id=~empty"
    (empty / "stacks.parquet").unlink()
    assert rows(store.path) == before
    shutil.rmtree(empty)
    assert rows(store.path) == before
    (empty / "events.parquet").write_bytes(b"")
    assert rows(store.path) == before
    _fill_with_zeros(empty / "events.parquet")
    assert command("check").code == 0
    assert rows(store.path) == before


def _as_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nothing/nowhere")


@pytest.mark.parametrize(
    "damage", [_as_directory, _as_dangling_link, Path.unlink, _fill_with_zeros]
)
@pytest.mark.parametrize("name", ["index-*.parquet", "index.parquet", "listing.json"])
def test_a_damaged_listing_or_index_is_written_again(
    name: str,
    damage: Callable[[Path], object],
    store: ingest.Store,
    before: dict[str, int],
    command: Command,
) -> None:
    [file] = store.path.glob(name)
    damage(file)
    done = command("list")
    assert (done.code, done.err) == (0, "")
    assert rows(store.path) == before
    assert is_at_rest(store.path)


@pytest.mark.parametrize("damage", [_as_directory, _as_dangling_link])
def test_a_damaged_lock_stops_only_writing_until_it_is_repaired(
    damage: Callable[[Path], object],
    store: ingest.Store,
    before: dict[str, int],
    command: Command,
) -> None:
    damage(store.path / ".lock")
    assert rows(store.path) == before
    assert command("check").code == 0
    done = command("remove", DAMAGED)
    assert done.code == 1
    assert done.err == (
        f"error: {store.path / '.lock'}: not a file to lock; run `ingest check --repair`\n"
    )
    assert command("check", "--repair").code == 0
    assert command("remove", DAMAGED).code == 0
    assert is_at_rest(store.path)


@pytest.mark.parametrize(
    "text", [100_000 * "[", '{"files": {"a": [Infinity, ""]}}', "[]", "\udc80"]
)
def test_a_manifest_that_is_not_one_damages_only_its_run(
    text: str, directory: Path, store: ingest.Store, command: Command
) -> None:
    (directory / "manifest.json").write_text(text, errors="surrogateescape")
    done = command("check")
    assert done.code == 1
    assert done.out.startswith(f"1 run intact\n{store.find_exactly(DAMAGED)}: manifest.json ")
    assert command("check", "--repair").code == 0
    assert command("check").out == "2 runs intact\n"


def test_a_run_of_a_newer_version_is_read_but_not_changed(
    directory: Path, store: ingest.Store, before: dict[str, int], command: Command
) -> None:
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["options"]["owner"] = "somebody"
    (directory / "manifest.json").write_text(json.dumps(manifest))
    assert command("check", "--remove").out == "2 runs intact\n"
    assert command("upgrade").out == "all runs are up to date\n"
    assert rows(store.path) == before
    done = command("edit", DAMAGED, "--note", "n")
    assert (done.code, done.err) == (
        1,
        f"error: {store.find(DAMAGED)}: a newer version of tracehouse wrote this run; "
        "install that version to change it\n",
    )


def test_a_copied_run_whose_name_is_not_utf8_gets_one_that_is(
    directory: Path, store: ingest.Store, command: Command
) -> None:
    version = store.path / "runs" / sql.schema_version()
    shutil.copytree(directory, version / os.fsdecode(b"run_id=odd-\xff"))
    done = command("list")
    assert (done.code, done.err) == (0, "")
    assert "odd-xff" in store.run_ids()
    query = "SELECT count(*) FROM kernels GROUP BY run_id"
    assert ingest.connect(store.path).execute(query).fetchall() == [(1,)] * 3


@pytest.mark.parametrize("name", [b"back\\slash", b"odd-\xff"])
def test_a_path_that_duckdb_would_misread_is_refused(name: bytes, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(name)
    with pytest.raises(ingest.IngestError, match=r"a store's path (cannot contain|must be UTF-8)"):
        ingest.Store(path)
    assert not path.exists()


def test_a_manifest_has_the_checksum_of_each_file(directory: Path) -> None:
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["files"] == {
        file.name: [file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest()]
        for file in directory.glob("*.parquet")
    }

"""Damage to a store: it costs the run that it is about, and that run alone."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import ingest
from ingest import sql
from tests.command import Command

HURT, WELL = "hurt", "well"


def _empty(run: Path) -> None:
    for file in run.iterdir():
        file.unlink()


def _fill_with_zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


UNTOLD = "empty directory"  # nothing says where its files lie
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    UNTOLD: (_empty, "manifest.json is missing"),
    "no manifest": (lambda run: (run / "manifest.json").unlink(), "manifest.json is missing"),
    "lost table": (lambda run: (run / "kernels.parquet").unlink(), "kernels.parquet is missing"),
    "cut table": (lambda run: (run / "events.parquet").write_bytes(b"PAR1"), "events.parquet"),
    "a directory": (
        lambda run: ((run / "ops.parquet").unlink(), (run / "ops.parquet").mkdir()),
        "ops.parquet",
    ),
}


@pytest.fixture
def hurt(samples: Path, store: ingest.Store) -> Path:
    """The directory of the first of two runs; it sorts first, too."""
    for name, trace in ((HURT, "alexnet_cuda_sync"), (WELL, "mi300_torch_compile_triton")):
        store.add(samples / "traces" / f"{trace}.json.gz", ingest.AddOptions(name=name))
    return store.run_path(store.find(HURT))


def rows(store: Path) -> dict[str, int]:
    """How many rows each table and view has."""
    with ingest.connect(store) as connection:
        return {
            file.name: connection.execute(f"SELECT count(*) FROM {file.name}").fetchall()[0][0]
            for file in (*sql.tables(), *sql.views())
        }


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_costs_no_other(
    kind: str, hurt: Path, store: ingest.Store, command: Command
) -> None:
    damage, words = DAMAGE[kind]
    whole = rows(store.path)
    well, run_id = store.find(WELL), store.find(HURT)
    damage(hurt)
    command("sql", "SELECT count(*) FROM events, ops, kernels, runs")  # this meets any damage
    for arguments in (["list"], ["show", WELL], ["top", WELL], ["sql", "FROM advice"]):
        done = command(*arguments)
        assert done.code == 0
        assert done.err.startswith(f"warning: run {run_id} is left out: ")
        assert words in done.err
        assert "see `ingest check --repair`" in done.err
        assert done.err.count("\n") == 1
    for arguments in (["show", run_id], ["top", HURT], ["memory", run_id]):
        done = command(*arguments)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
        assert done.err.startswith(f"error: {run_id}: ")
    left = rows(store.path)
    with ingest.connect(store.path) as connection:
        assert connection.execute("SELECT run_id FROM runs").fetchall() == [(well,)]
        assert connection.execute("SELECT DISTINCT run_id FROM events").fetchall() == [(well,)]
    with duckdb.connect(str(store.path / "catalog.duckdb"), read_only=True) as other:
        assert other.execute("SELECT DISTINCT run_id FROM kernels").fetchall() == [(well,)]
    assert command("check").code == 1
    repaired = command("check", "--repair")
    if kind == UNTOLD:
        assert (repaired.code, repaired.err.count("\n")) == (1, 1)
        assert rows(store.path) == left
    else:
        assert (repaired.code, repaired.err) == (0, "")
        assert rows(store.path) == whole != left


@pytest.mark.parametrize("name", ["manifest.json", "runs.parquet"])
def test_damage_that_no_query_meets_is_found_by_a_check(
    name: str, hurt: Path, store: ingest.Store, command: Command
) -> None:
    assert command("check").out.split("\n")[0] == "2 runs intact"
    _fill_with_zeros(hurt / name)
    done = command("check")
    assert done.code == 1
    assert done.out.startswith(f"1 run intact\n{store.find_exactly(HURT)}: {name} ")


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
def test_damage_that_no_size_tells_is_found_by_the_query_that_meets_it(
    hurt: Path, store: ingest.Store, command: Command
) -> None:
    connection = ingest.connect(store)
    well, run_id = store.find(WELL), store.find(HURT)
    _fill_with_zeros(hurt / "kernels.parquet")
    query = "SELECT DISTINCT run_id FROM kernels"
    with pytest.warns(ingest.StoreWarning, match=rf"{run_id} is left out: kernels.parquet"):
        found = ingest.read(connection, lambda: connection.execute(query).fetchall())
    assert found == [(well,)]
    _fill_with_zeros(hurt / "events.parquet")
    done = command("sql", query)
    assert (done.code, done.out.split()[-1]) == (0, well)


def test_a_run_whose_files_are_gone_is_kept_until_asked(
    traces, command: Command, tmp_path: Path
) -> None:
    event = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    trace = traces.write([event])
    run_id = traces.store.add(trace).run_id
    trace.unlink()
    (traces.store.run_path(run_id) / "ops.parquet").unlink()
    done = command("check", "--repair")
    assert done.code == 1
    assert f"error: {run_id}: its files cannot be read: {trace}: no such file" in done.err
    assert traces.store.run_path(run_id).is_dir()
    assert command("check", "--remove").code == 0
    assert traces.store.run_ids() == []


@pytest.mark.parametrize("name", ["catalog.duckdb", "index.parquet", "schema"])
@pytest.mark.parametrize("content", [None, b"", b"no database"])
def test_what_is_derived_heals(
    name: str, content: bytes | None, hurt: Path, store: ingest.Store, command: Command
) -> None:
    whole = rows(store.path)
    if content is None:
        (store.path / name).unlink()
    else:
        (store.path / name).write_bytes(content)
    done = command("list")
    assert (done.code, done.err) == (0, "")
    assert rows(store.path) == whole
    with duckdb.connect(str(store.path / "catalog.duckdb"), read_only=True) as other:
        assert other.execute("SELECT count(*) FROM runs").fetchall() == [(2,)]


def test_lost_empty_tables_are_made_again(hurt: Path, store: ingest.Store) -> None:
    whole = rows(store.path)
    (hurt.parent / "run_id=~empty" / "stacks.parquet").unlink()
    assert rows(store.path) == whole
    shutil.rmtree(hurt.parent / "run_id=~empty")
    assert rows(store.path) == whole


def test_a_manifest_has_the_checksum_of_each_file(hurt: Path) -> None:
    manifest = json.loads((hurt / "manifest.json").read_text())
    assert manifest["files"] == {
        file.name: [file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest()]
        for file in hurt.glob("*.parquet")
    }

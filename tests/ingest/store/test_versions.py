"""Stores that other versions of tracehouse wrote: reading and upgrading them."""

import hashlib
import json
import shutil
import tarfile
from collections.abc import Collection
from functools import partial
from pathlib import Path

import duckdb
import pytest

import ingest
from ingest import sql
from tests.builders.events import Event, kernel, op
from tests.conftest import Traces
from tests.helpers.command import Command
from tests.helpers.stores import is_at_rest

# A store that the last tracehouse without versions wrote. It lacks columns that later versions
# removed, or renamed without an entry in `sql.EARLIER_NAMES`. It ran in the parent directory of
# `traces/`. It has two runs: `first` with tag a=b, and `mi300_torch_compile_triton` with mode
# `compiled`.
BEFORE_VERSIONS = Path(__file__).parent / "data" / "before_versions.tar.xz"
OTHER = "0123456789abcdef"
EVENT: Event = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}


@pytest.fixture
def old(tmp_path: Path, samples: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store without recorded versions, next to the traces of its runs."""
    (tmp_path / "traces").mkdir()
    for name in ("cpu_only", "mi300_torch_compile_triton"):
        shutil.copy(samples / "traces" / f"{name}.json.gz", tmp_path / "traces")
    with tarfile.open(BEFORE_VERSIONS) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "store"


@pytest.fixture
def default_store(request: pytest.FixtureRequest, store: ingest.Store) -> Path:
    """The store that `command` uses."""
    named = "old" if "old" in request.fixturenames else ""
    return Path(request.getfixturevalue("old")) if named else store.path


def values(store: Path) -> list[tuple[object, ...]]:
    """Return some values of each run that do not depend on the version."""
    with ingest.connect(store) as connection:
        return connection.execute(
            """
            SELECT run_id, name, mode, tags, ingested_at, events, activities, busy_ns,
                (SELECT sum(ns) FROM step_parts AS p WHERE p.run_id = run_overview.run_id),
                (SELECT count(*) FROM kernels AS k WHERE k.run_id = run_overview.run_id)
            FROM run_overview ORDER BY run_id
            """
        ).fetchall()


def test_a_store_without_versions_is_read_and_upgraded(old: Path, command: Command) -> None:
    before = values(old)
    assert [row[:4] for row in before] == [
        ("first-5412a757", "first", None, {"a": "b"}),
        ("mi300_torch_compile_triton-e6d9112f", "mi300_torch_compile_triton", "compiled", {}),
    ]
    assert command("check").out == "2 runs intact\n"
    done = command("upgrade")
    assert (done.code, done.err) == (0, "")
    assert sorted(done.out.splitlines()) == [f"rebuilt {run_id}" for run_id, *_ in before]
    assert values(old) == before
    assert [path.name for path in (old / "runs").iterdir()] == [sql.schema_version()]
    query = "SELECT schema_version, logic_version, path FROM runs ORDER BY run_id"
    assert ingest.connect(old).execute(query).fetchall() == [
        (sql.schema_version(), sql.logic_version(), str(old.parent / "traces" / f"{name}.json.gz"))
        for name in ("cpu_only", "mi300_torch_compile_triton")
    ]
    assert command("upgrade").out == "all runs are up to date\n"


def test_runs_that_cannot_be_upgraded_are_kept_and_reported(old: Path, command: Command) -> None:
    before = values(old)
    (old.parent / "traces" / "cpu_only.json.gz").write_bytes(b"{}")
    (old.parent / "traces" / "mi300_torch_compile_triton.json.gz").unlink()
    done = command("upgrade", "--jobs", 2)
    assert done.code == 1
    lines = sorted(done.err.splitlines())
    assert len(lines) == 3
    assert lines[0] == "error: could not rebuild 2 runs; the old version stays"
    assert lines[1].startswith("error: first-5412a757: ")
    assert lines[2].startswith("error: mi300_torch_compile_triton-e6d9112f: cannot read its orig")
    assert values(old) == before


def test_labels_of_an_old_run_can_be_changed(old: Path, command: Command) -> None:
    assert command("edit", "first", "--name", "other", "--tag", "c=d", "--untag", "a").code == 0
    [(run_id, name, _, tags, *_), _] = values(old)
    assert (run_id, name, tags) == ("first-5412a757", "other", {"c": "d"})
    assert "run `ingest upgrade`" in command("edit", "first", "--note", "x").err
    assert command("upgrade", run_id).code == 0
    [(_, name, _, tags, *_), _] = values(old)
    assert (name, tags) == ("other", {"c": "d"})


@pytest.fixture(scope="module")
def runs_of_one_event(shared_traces: Traces) -> Path:
    """A store of the runs `one`, `ours` and `other`. Tests copy it."""
    for name, dur in (("one", 3), ("ours", 2), ("other", 1)):
        shared_traces.add([{**EVENT, "name": name, "dur": dur}], name)
    return shared_traces.store.path


@pytest.fixture
def copied(runs_of_one_event: Path, tmp_path: Path) -> ingest.Store:
    """A copy of the store, for exclusive use by the test."""
    return ingest.Store(shutil.copytree(runs_of_one_event, tmp_path / "copied"))


def change_to_another_version(
    store: ingest.Store, changes: dict[str, str], without: Collection[str] = ()
) -> str:
    """Change the tables of the run `other` as if another version had written them.

    That version does not have the tables `without`. Return the id of the run.
    """
    run_id = store.find("other")
    ours, other = (store.path / "runs" / version for version in (sql.schema_version(), OTHER))
    shutil.copytree(ours / "run_id=~empty", other / "run_id=~empty")
    kept = Path(shutil.copytree(store.run_path(run_id), store.path.with_name("kept")))
    store.remove(run_id)
    run = kept.rename(other / f"run_id={run_id}")
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["schema_version"] = OTHER
    with duckdb.connect() as connection:
        for directory in (other / "run_id=~empty", run):
            for file in filter(Path.exists, (directory / f"{table}.parquet" for table in changes)):
                read = f"read_parquet('{file}', hive_partitioning = false)"
                change = changes[file.stem]
                connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT {change} FROM {read}")
                connection.execute(f"COPY t TO '{file}'")
                if directory == run:
                    manifest["files"][file.name] = _size_and_sha256(file)
            for table in without:
                (directory / f"{table}.parquet").unlink(missing_ok=True)
                manifest["files"].pop(f"{table}.parquet", None)
    (run / "manifest.json").write_text(json.dumps(manifest))
    return run_id


def _size_and_sha256(file: Path) -> tuple[int, str]:
    return file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("table", "change", "dur_ns", "self_ns"),
    [
        ("events", "* EXCLUDE (self_ns)", 1000, None),  # an older version, which lacks the column
        ("events", "*, 1 AS energy", 1000, 1000),  # a newer version, which has one more column
        ("memory_peak", "* EXCLUDE (device)", 1000, 1000),
    ],
)
def test_columns_that_a_version_lacks_are_null(
    table: str,
    change: str,
    dur_ns: int,
    self_ns: int | None,
    copied: ingest.Store,
    command: Command,
) -> None:
    run_id = change_to_another_version(copied, {table: change})
    connection = ingest.connect(copied.path)
    query = "SELECT run_id, name, dur_ns, self_ns FROM events ORDER BY dur_ns"
    rows = connection.execute(query).fetchall()
    assert rows[0] == (run_id, "other", dur_ns, self_ns)
    assert [row[1:] for row in rows[1:]] == [("ours", 2000, 2000), ("one", 3000, 3000)]
    with duckdb.connect(str(copied.path / "catalog.duckdb"), read_only=True) as other:
        assert other.execute(query).fetchall() == rows
    assert connection.execute("SELECT count(*) FROM run_overview").fetchall() == [(3,)]
    assert command("upgrade", store=copied.path).code == 0
    assert ingest.connect(copied.path).execute(query).fetchall()[0][2:] == (1000, 1000)
    assert connection.execute(query).fetchall()[0][2:] == (1000, 1000)
    assert (copied.path / "runs" / OTHER).exists()  # a statement may be reading its tables
    connection.close()
    ingest.Store(copied.path)
    assert not (copied.path / "runs" / OTHER).exists()


def test_columns_with_an_earlier_name_are_read(traces: Traces, command: Command) -> None:
    def rows() -> list[tuple[object, ...]]:
        with ingest.connect(traces.store.path) as connection:
            return connection.execute(
                "SELECT run.idle_ns, span.idle_ns, span.idle_percent, device.idle_ns "
                "FROM run_metrics AS run JOIN run_overview AS span USING (run_id) "
                "JOIN device_time AS device USING (run_id)"
            ).fetchall()

    traces.add([kernel("a", 0, 10), kernel("b", 30, 10)], "other")
    assert rows() == [(20_000, 20_000, 50.0, 20_000)]
    renamed = {
        table: f"* RENAME ({', '.join(f'{name} AS {earlier}' for name, earlier in names.items())})"
        for table, names in sql.EARLIER_NAMES.items()
    }
    change_to_another_version(traces.store, renamed)
    assert rows() == [(20_000, 20_000, 50.0, 20_000)]
    assert command("upgrade", store=traces.store.path).code == 0
    assert rows() == [(20_000, 20_000, 50.0, 20_000)]


def test_runs_without_keys_of_devices_answer_as_before(traces: Traces, command: Command) -> None:
    """`device_id` is computed from other columns, and `devices` from other tables."""
    # `runs` has the version.
    names = {each.name for each in (*sql.tables(), *sql.views()) if each.topic != "compare"}

    def rows() -> dict[str, list[tuple[object, ...]]]:
        with ingest.connect(traces.store.path) as connection:
            return {
                name: connection.execute(f"FROM {name} ORDER BY ALL").fetchall()
                for name in names - {"runs"}
            }

    memory = {"Device Type": 1, "Device Id": 0, "Addr": 1, "Bytes": 512, "Total Allocated": 512}
    host = memory | {"Device Type": 0, "Device Id": -1}
    traces.add(
        [
            *(op("work", ts, 40) for ts in (0, 50)),
            kernel("a", 10, 20),
            kernel("b", 60, 10, device=1),
            kernel("Memcpy HtoD", 30, 5, "gpu_memcpy"),
            *(
                {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": args}
                for ts, args in ((5, memory), (55, host))
            ),
        ],
        "other",
    )
    before = rows()
    assert len(before["devices"]) == 3
    assert len(before["memory_timeline"]) == 4
    assert any({"exposed_copy", 5000} <= {*row} for row in before["advice_facts"])
    keyed = [name for name, columns in sql.table_columns().items() if "device_id" in columns]
    changes = dict.fromkeys(keyed, "* EXCLUDE (device_id)")
    # A stored view that lacks columns is computed.
    changes["advice_facts"] = "* EXCLUDE (device_id, saved_ns)"
    change_to_another_version(traces.store, changes, without=["devices"])
    assert rows() == before
    assert command("upgrade", store=traces.store.path).code == 0
    assert rows() == before


def test_a_connection_sees_no_run_of_a_version_that_came_later(copied: ingest.Store) -> None:
    """Its views do not read the tables of that version, so it would see half of the run."""
    connection = ingest.connect(copied.path)
    run_id = change_to_another_version(copied, {"events": "* EXCLUDE (self_ns)"})
    copied.refresh()
    for seen, other in ((False, connection), (True, ingest.connect(copied.path))):
        for relation in ("run_overview", "events", "runs"):
            found = other.execute(f"SELECT DISTINCT run_id FROM {relation}").fetchall()
            assert ((run_id,) in found) == seen, relation
            assert len(found) == 2 + seen


def test_a_copied_run_of_an_older_version_never_replaces_an_upgraded_one(
    copied: ingest.Store, tmp_path: Path, command: Command
) -> None:
    run_id = change_to_another_version(copied, {"events": "* EXCLUDE (self_ns)"})
    for version in (f"runs/{OTHER}/run_id={run_id}", f"runs/{OTHER}/run_id=~empty"):
        shutil.copytree(copied.path / version, tmp_path / version)
    assert command("upgrade", store=copied.path).code == 0
    shutil.copytree(tmp_path / "runs", copied.path / "runs", dirs_exist_ok=True)
    for _ in range(2):
        assert ingest.Store(copied.path).listed(run_id).version == sql.schema_version()
    assert (copied.path / "runs" / OTHER / f"run_id={run_id}" / "events.parquet").is_file()


@pytest.mark.filterwarnings("ignore::ingest.StoreWarning")
@pytest.mark.parametrize(
    "changes",
    [
        {"events": "* RENAME (self_ns AS own_ns)"},
        {"events": "* REPLACE (self_ns::VARCHAR AS self_ns)"},
    ],
    ids=["renamed", "retyped"],
)
def test_runs_with_incompatible_columns_are_left_out_until_upgraded(
    changes: dict[str, str], copied: ingest.Store, command: Command
) -> None:
    run_id = change_to_another_version(copied, changes)
    for arguments in (["list"], ["sql", "FROM runs"], ["show", "ours"]):
        done = command(*arguments, store=copied.path)
        assert done.code == 0
        assert done.err == (
            f"warning: run {run_id} is left out: written by a version of tracehouse with other "
            "columns; run `ingest upgrade`\n"
        )
        assert run_id not in done.out
    assert command("show", run_id, store=copied.path).code == 1
    query = "SELECT name FROM events ORDER BY name"
    assert ingest.connect(copied.path).execute(query).fetchall() == [("one",), ("ours",)]
    assert command("upgrade", store=copied.path).code == 0
    assert ingest.connect(copied.path).execute(query).fetchall() == [
        ("one",), ("other",), ("ours",),
    ]  # fmt: skip


def test_a_run_of_another_logic_is_rebuilt(copied: ingest.Store, command: Command) -> None:
    run_id = copied.find("one")
    directory = copied.run_path(run_id)
    manifest = json.loads((directory / "manifest.json").read_text())
    (directory / "manifest.json").write_text(json.dumps(manifest | {"logic_version": OTHER}))
    assert command("upgrade", run_id, store=copied.path).out == f"rebuilt {run_id}\n"
    assert json.loads((copied.run_path(run_id) / "manifest.json").read_text()) == manifest
    assert command("upgrade", run_id, store=copied.path).out == f"up to date: {run_id}\n"


def test_a_comparison_of_different_versions_has_a_warning(
    copied: ingest.Store, command: Command
) -> None:
    diff = partial(command, "diff", store=copied.path)
    assert "versions of tracehouse" not in diff("one", "ours").err
    change_to_another_version(copied, {"runs": "* REPLACE ('other' AS logic_version)"})
    found = diff("one", "other")
    assert f"Different versions of tracehouse wrote the runs, {sql.logic_version()} and other" in (
        found.err
    )
    assert "Different versions" not in diff("one", "ours").err


def test_a_store_without_a_listing_is_read_and_gets_one(
    copied: ingest.Store, command: Command
) -> None:
    """Before there was a listing, `runs/` had the files of the runs."""
    query = "SELECT run_id, runs.name, dur_ns FROM events JOIN runs USING (run_id) ORDER BY run_id"
    before = ingest.connect(copied.path).execute(query).fetchall()
    index = (copied.path / "index.parquet").resolve()
    for run_id in copied.run_ids():
        directory = copied.run_path(run_id)
        link = copied.path / "runs" / sql.schema_version() / directory.name
        link.unlink()
        directory.rename(link)
    for name in ("listing.json", "index.parquet"):
        (copied.path / name).unlink()
    duckdb.execute(
        f"COPY (SELECT * EXCLUDE (content), 1 AS changed_ns FROM '{index}') "
        f"TO '{copied.path / 'index.parquet'}' (KV_METADATA {{index_version: 'older'}})"
    )
    index.unlink()
    shutil.rmtree(copied.path / "revisions")
    assert ingest.connect(copied.path).execute(query).fetchall() == before
    assert command("check", store=copied.path).out == "3 runs intact\n"
    assert is_at_rest(copied.path)


def test_redacted_paths_are_not_stored(traces: Traces, command: Command) -> None:
    path = traces.write([EVENT])
    run_id = traces.store.add(path, ingest.AddOptions(redact_paths=True)).run_id
    directory = traces.store.run_path(run_id)
    assert str(path.parent) not in (directory / "manifest.json").read_text()
    manifest = json.loads((directory / "manifest.json").read_text())
    (directory / "manifest.json").write_text(json.dumps(manifest | {"logic_version": OTHER}))
    assert "was redacted; add the files again" in command("upgrade").err

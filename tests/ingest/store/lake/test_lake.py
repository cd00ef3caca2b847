"""Stores on object storage: the same questions have the same answers as on a local store."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable

import ingest
from ingest import sql
from ingest.store.lake import commits
from ingest.store.lake import push as pushing
from ingest.store.lake.lake import Lake
from tests.helpers.command import Command
from tests.helpers.recorded import COMPILED, DEVICE, EAGER, NETWORK, SNAPSHOT

BUCKET = "profiles"
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def local(recorded_store: Path) -> ingest.Store:
    """A store in a directory."""
    return ingest.Store(recorded_store)


@pytest.fixture(scope="module")
def lake(local: ingest.Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A lake with the runs of that store. Tests must not change it."""
    url = f"file://{tmp_path_factory.mktemp('lake')}/runs"
    assert list(pushing.push(local, url, local.run_ids())) == [local.run_ids()]
    return url


@pytest.fixture
def own_lake(tmp_path: Path) -> str:
    """The URL of a lake for exclusive use by the test."""
    return f"file://{tmp_path}/lake"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a bucket of a server with the interface of S3."""
    settings = {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "REGION": "us-east-1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = next(line.strip() for line in server.stdout if line.strip().isdigit())
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        import s3fs

        s3fs.S3FileSystem.clear_instance_cache()
        s3fs.S3FileSystem().mkdir(BUCKET)
        yield f"s3://{BUCKET}/runs"
        s3fs.S3FileSystem.clear_instance_cache()
        server.kill()


def answers(place: str | Path, relation: str) -> list[str]:
    with ingest.connect(place) as connection:
        return sorted(map(repr, connection.execute(f"FROM {relation}").fetchall()))


def test_every_relation_has_the_same_rows(local: ingest.Store, lake: str) -> None:
    with ingest.connect(local) as one, ingest.connect(lake) as other:
        for file in sql.relations():
            if not file.macro:
                query = f"FROM {file.name}"
                expected, found = one.sql(query), other.sql(query)
                assert found.columns == expected.columns, file.name
                assert found.types == expected.types, file.name
                rows = sorted(map(repr, found.fetchall()))
                assert rows == sorted(map(repr, expected.fetchall())), file.name


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("show", DEVICE),
        ("top", NETWORK),
        ("top", COMPILED, "--by", "kernel"),
        ("memory", SNAPSHOT),
        ("diff", EAGER, COMPILED),
        ("table", EAGER),
        ("export", DEVICE, "--chrome", "-"),
        ("sql", "FROM run_features ORDER BY ALL", "--format", "csv"),
        ("show", "missing"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_print_the_same(
    command: Command, local: ingest.Store, lake: str, arguments: tuple[object, ...]
) -> None:
    expected = command(*arguments, store=local.path)
    found = command(*arguments, "--store", lake)
    assert found.err == expected.err.replace(str(local.path), lake)
    assert (found.code, found.out) == (expected.code, expected.out)
    assert expected.out or expected.err


def test_a_push_continues_where_another_ended(local: ingest.Store, own_lake: str) -> None:
    first, *others = local.run_ids()
    assert list(pushing.push(local, own_lake, [first])) == [[first]]
    before = ingest.connect(own_lake)
    assert list(pushing.push(local, own_lake, local.run_ids())) == [others]
    assert list(pushing.push(local, own_lake, local.run_ids())) == []
    assert Lake(own_lake).run_ids() == local.run_ids()
    # An open connection sees what was there when it was opened.
    assert before.sql("SELECT DISTINCT run_id FROM events").fetchall() == [(first,)]
    assert before.sql("SELECT run_id FROM run_overview").fetchall() == [(first,)]


def test_a_batch_is_visible_as_a_whole(
    local: ingest.Store, own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends before the last commit leaves files that nobody reads."""
    first, *others = local.run_ids()
    list(pushing.push(local, own_lake, [first]))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pushing, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            list(pushing.push(local, own_lake, others[:2]))
    for relation in ("runs", "events", "run_overview"):
        assert len(set(answers(own_lake, f"(SELECT run_id FROM {relation})"))) == 1
    list(pushing.push(local, own_lake, others))
    for relation in ("runs", "events", "kernels", "memory_events"):
        assert answers(own_lake, relation) == answers(local.path, relation), relation


def test_a_run_is_never_there_twice(
    local: ingest.Store, own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes find that the lake lacks a run. The second one, or its death, harms nothing."""
    first, second, *_ = local.run_ids()
    list(pushing.push(local, own_lake, [first]))
    expected = answers(own_lake, "events")
    for run_ids in ([first], [first, second]):
        with monkeypatch.context() as patch:
            patch.setattr(Lake, "run_ids", lambda _: [])
            with pytest.raises(ingest.IngestError, match="another process pushed it meanwhile"):
                list(pushing.push(local, own_lake, run_ids))
    assert Lake(own_lake).run_ids() == [first]
    assert answers(own_lake, "events") == expected
    assert list(pushing.push(local, own_lake, [first, second])) == [[second]]


def test_other_engines_find_the_visible_rows(
    local: ingest.Store, own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch without its last commit has rows that a join with `runs` leaves out."""
    run_ids = local.run_ids()
    list(pushing.push(local, own_lake, run_ids[:1]))
    with monkeypatch.context() as patch:
        patch.setattr(pushing, "publish", lambda *_: None)
        list(pushing.push(local, own_lake, run_ids[1:]))
    list(pushing.push(local, own_lake, run_ids))
    tables = {
        name: DeltaTable(f"{own_lake}/{name}").to_pyarrow_dataset() for name in ("sources", "runs")
    }
    with duckdb.connect() as connection:
        for name, dataset in tables.items():
            connection.register(name, dataset)
        query = "SELECT run_id, path FROM sources SEMI JOIN runs USING (run_id, batch) ORDER BY ALL"
        found = connection.sql(query).fetchall()
    with ingest.connect(local) as connection:
        assert found == connection.sql("SELECT run_id, path FROM sources ORDER BY ALL").fetchall()


@pytest.mark.parametrize("table", ["sources", "runs"])
def test_tables_that_another_program_rewrote_are_an_error(
    command: Command, local: ingest.Store, own_lake: str, table: str
) -> None:
    first, second, third, *_ = local.run_ids()
    for run_id in (first, second):
        list(pushing.push(local, own_lake, [run_id]))
    DeltaTable(f"{own_lake}/{table}").optimize.compact()
    if table == "sources":  # the next commit of `runs` names the version after that
        list(pushing.push(local, own_lake, [third]))
    result = command("sql", "SELECT count(*) FROM sources", "--store", own_lake)
    assert result.code == 1
    assert "another program rewrote its tables" in result.err


def test_processes_can_push_at_once(local: ingest.Store, own_lake: str) -> None:
    run_ids = local.run_ids()
    list(pushing.push(local, own_lake, run_ids[:1]))
    program = "import sys; from ingest.cli.main import command; command()"
    pushers = [
        subprocess.Popen(
            [sys.executable, "-c", program, "push", own_lake, run_id, "--store", local.path],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.getcwd()},
        )
        for run_id in run_ids[1:4]
    ]
    for pusher in pushers:
        pusher.communicate()
        assert pusher.returncode == 0
    assert Lake(own_lake).run_ids() == run_ids[:4]
    found = answers(own_lake, "(SELECT DISTINCT run_id FROM sources)")
    assert found == [repr((run_id,)) for run_id in run_ids[:4]]


def test_a_lake_on_s3(command: Command, local: ingest.Store, s3: str) -> None:
    pushed = command("push", s3, EAGER, DEVICE, store=local.path)
    assert (pushed.code, pushed.err) == (0, "")
    assert pushed.out.endswith(f"2 runs pushed to {s3}\n")
    for name in (EAGER, DEVICE):
        expected = command("top", name, store=local.path)
        assert command("top", name, "--store", s3).out == expected.out
    assert command("sql", "SELECT count(*) FROM runs", "--store", s3, "--format", "csv").out == (
        "count_star()\n2\n"
    )


def test_what_a_lake_cannot_do_is_an_error(
    command: Command, lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    only = "this works only on a store in a directory; `ingest push` copies its runs to a URL"
    for arguments in (
        ["add", tmp_path],
        ["edit", EAGER, "--name", "x"],
        ["remove", EAGER],
        ["check"],
    ):
        result = command(*arguments, "--store", lake)
        assert result.code == 1
        assert result.err.endswith(f"{only}\n"), arguments
    missing = f"file://{tmp_path}/missing"
    assert command("list", "--store", missing).err == (
        f"error: {missing}: no such store; `ingest push` creates one\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_lake_of_another_version_is_an_error(
    command: Command, local: ingest.Store, lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "lake_version", lambda: "another")
    error = f"error: {lake}: a version of tracehouse with other tables wrote this store; "
    error += "push to another URL\n"
    assert command("list", "--store", lake).err == error
    assert command("push", lake, store=local.path).err == error


@pytest.mark.parametrize("package", ["deltalake", "s3fs"])
def test_missing_packages_are_named(
    command: Command, local: ingest.Store, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    error = "error: a store at a URL needs more packages: pip install 'tracehouse[lake]'\n"
    assert command("list", "--store", "s3://bucket/runs").err == error
    assert command("push", "s3://bucket/runs", store=local.path).err == error

"""Stores on object storage: the same questions have the same answers as on a local store."""

import shutil
import sys
from pathlib import Path

import pytest

import ingest
from ingest import sql
from ingest.sandbox import Sandbox
from ingest.store.lake import head
from ingest.store.lake.kept import kept_directory
from ingest.store.lake.lake import Lake
from ingest.store.lake.place import LakePlace
from tests.helpers.command import Command
from tests.helpers.recorded import COMPILED, DEVICE, EAGER, NETWORK, SNAPSHOT


def test_every_relation_has_the_same_rows(local: ingest.Store, lake: str) -> None:
    with ingest.connect(local) as one, ingest.connect(lake) as other:
        for file in sql.relations():
            if not file.macro:
                query = f"FROM {file.name}"
                expected, found = one.sql(query), other.sql(query)
                assert found.columns == expected.columns, file.name
                assert found.types == expected.types, file.name
                assert sorted(map(repr, found.fetchall())) == sorted(
                    map(repr, expected.fetchall())
                ), file.name


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


@pytest.mark.parametrize("command_name", ["show", "top", "table", "memory", "export"])
def test_commands_read_only_files_of_their_run(
    command: Command, small: ingest.Store, own_lake: str, command_name: str
) -> None:
    """Files of other runs may be damaged."""
    run_id = small.find(SNAPSHOT if command_name == "memory" else DEVICE)
    for table in ("sources", "steps", "run_parts", "memory_events", "kernels"):
        for file in Lake(own_lake).snapshot.files(table):
            if file.first != run_id:
                Path(own_lake.removeprefix("file://"), table, file.path).write_bytes(b"")
    more = ("--chrome", "-") if command_name == "export" else ()
    expected = command(command_name, run_id, *more, store=small.path)
    assert command(command_name, run_id, *more, "--store", own_lake) == expected
    assert expected.code == 0


def test_a_lake_on_s3(command: Command, small: ingest.Store, s3: str, tmp_path: Path) -> None:
    expected = command("top", DEVICE, store=small.path)
    assert command("top", DEVICE, "--store", s3) == expected
    for arguments in (
        ("push", s3, "first", "--store", small.path),
        ("edit", SNAPSHOT, "--model", "m", "--store", s3),
        ("remove", NETWORK, "--store", s3),
        ("check", "--store", s3),
        ("compact", "--store", s3),
        ("pull", s3, SNAPSHOT, "--store", tmp_path / "pulled"),
    ):
        result = command(*arguments)
        assert (result.code, result.err) == (0, ""), arguments
    with ingest.connect(tmp_path / "pulled") as connection:
        query = "SELECT name, model FROM runs ORDER BY name"
        assert connection.sql(query).fetchall() == [("snapshot", "m")]
    answer = Sandbox(s3).query(query).table.to_pydict()
    assert answer == {"name": ["device", "first", "snapshot"], "model": [None, None, "m"]}


def test_no_answer_comes_from_a_changed_file(command: Command, s3: str) -> None:
    """Many changed bits of a Parquet file are other values, which DuckDB reads without an error."""
    import s3fs

    storage, query = s3fs.S3FileSystem(), ("sql", "SELECT sum(dur_ns) FROM ops", "--store", s3)
    name = f"ops/{Lake(s3).snapshot.files('ops')[0].path}"
    content = storage.cat_file(f"{s3}/{name}")
    changed = bytearray(content)
    changed[len(content) // 2] ^= 1
    storage.pipe_file(f"{s3}/{name}", bytes(changed))
    problem = f"{name} has changed since it was written; run `ingest check --repair`"
    assert command(*query).err == f"error: {s3}: {problem}\n"
    assert problem in command("check", "--store", s3).out
    storage.pipe_file(f"{s3}/{name}", content)
    assert command(*query).code == 0
    storage.rm_file(f"{s3}/{name}")
    shutil.rmtree(kept_directory(LakePlace(s3)))
    gone = command(*query).err
    assert gone.startswith(f"error: {s3}: cannot read the store: a file is gone; ")


def test_a_lake_is_created_on_s3(command: Command, small: ingest.Store, empty_s3: str) -> None:
    pushed = command("push", empty_s3, "first", store=small.path)
    assert (pushed.code, pushed.err) == (0, "")
    assert pushed.out.endswith(f"1 run pushed to {empty_s3}\n")
    assert Lake(empty_s3).run_ids() == [small.find("first")]


def test_what_a_lake_cannot_do_is_an_error(
    command: Command, lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    only = "this works only on a store in a directory; `ingest push` copies its runs to a URL"
    pushed = command("push", f"file://{tmp_path}/other", "--store", lake)
    assert (pushed.code, pushed.err) == (1, f"error: {lake}: {only}\n")
    missing = f"file://{tmp_path}/missing"
    assert command("list", "--store", missing).err == (
        f"error: {missing}: no such store; `ingest add` and `ingest push` create one\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_two_kinds_of_store_are_not_mixed(
    command: Command, small: ingest.Store, own_lake: str
) -> None:
    directory = own_lake.removeprefix("file://")
    error = f"error: {directory}: this is a store at a URL; name it {own_lake}\n"
    assert command("list", store=Path(directory)).err == error
    url = f"file://{small.path}"
    error = f"error: {url}: this is a store in a directory; name it without file://\n"
    assert command("push", url, store=small.path).err == error


def test_credentials_of_a_profile_are_used(
    s3: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    profile = tmp_path / "credentials"
    profile.write_text("[team]\naws_access_key_id = test\naws_secret_access_key = test\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profile))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_PROFILE", "team")
    with ingest.connect(s3) as connection:
        assert connection.sql("SELECT count(*) FROM sources").fetchall() == [(3,)]
    monkeypatch.setenv("AWS_PROFILE", "missing")
    with pytest.raises(ingest.IngestError, match="missing"):
        ingest.connect(s3)


def test_an_endpoint_that_cannot_be_reached_is_named(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "127.0.0.1:1")
    error = command("list", "--store", "s3://profiles/runs").err
    assert error == "error: AWS_ENDPOINT_URL must begin with http:// or https://\n"


def test_a_lake_of_another_version_is_an_error(
    command: Command, local: ingest.Store, lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head, "lake_version", lambda: "another")
    error = f"error: {lake}: a version of tracehouse with other tables wrote this store; "
    error += "push to another URL\n"
    assert command("list", "--store", lake).err == error
    assert command("push", lake, store=local.path).err == error


@pytest.mark.parametrize(
    ("package", "scheme", "wanted"),
    [
        ("deltalake", "s3", "'tracehouse[lake]'"),
        ("s3fs", "s3", "'tracehouse[lake]'"),
        ("gcsfs", "gs", "gcsfs"),
        ("adlfs", "az", "adlfs"),
    ],
)
def test_missing_packages_are_named(
    command: Command,
    local: ingest.Store,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    scheme: str,
    wanted: str,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    error = f"error: a store at a URL needs more packages: pip install {wanted}\n"
    assert command("list", "--store", f"{scheme}://bucket/runs").err == error
    assert command("push", f"{scheme}://bucket/runs", store=local.path).err == error

"""Stores on object storage: the same questions have the same answers as on a local store."""

import sys
from pathlib import Path

import pytest

import ingest
from ingest import sql
from ingest.store.lake import commits
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
    pushed = command("push", f"file://{tmp_path}/other", "--store", lake)
    assert (pushed.code, pushed.err) == (1, f"error: {lake}: {only}\n")
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

"""Adding files to a lake, and copying runs of a lake to a store in a directory."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import ingest
from ingest.store.lake import adding, batch
from ingest.store.lake.lake import Lake
from tests.builders.events import kernel, op
from tests.helpers.command import Command
from tests.helpers.recorded import DEVICE, NETWORK, SNAPSHOT
from tests.ingest.store.lake.answers import RELATIONS, all_rows

COLUMNS = {"runs": "* EXCLUDE (ingested_at)", "run_overview": "* EXCLUDE (ingested_at)"}


@pytest.fixture
def traces(tmp_path: Path) -> list[Path]:
    """Some traces, the last one with the content of the first."""
    found = []
    for number in (1, 2, 3, 1):
        path = tmp_path / f"trace{len(found)}.json"
        events = [op("a", 0, 10 * number), kernel("k", 1, number)]
        path.write_text(json.dumps({"traceEvents": events}))
        found.append(path)
    return found


@pytest.fixture
def own_lake(own_lake: str) -> str:
    """The URL of a lake without runs."""
    Lake(own_lake).remove(*Lake(own_lake).run_ids())
    return own_lake


def without_times(place: str | Path) -> dict[str, list[str]]:
    queries = [f"(SELECT {COLUMNS.get(name, '*')} FROM {name})" for name in RELATIONS]
    return all_rows(place, queries)


def test_files_become_the_same_runs_as_in_a_directory(
    command: Command, traces: list[Path], own_lake: str, tmp_path: Path
) -> None:
    missing = tmp_path / "missing.json"
    arguments = ("add", *traces, missing, "--tag", "a=b", "--jobs", "2")
    directory = command(*arguments, store=tmp_path / "store")
    found = command(*arguments, "--store", own_lake)
    assert (found.code, found.err) == (directory.code, directory.err)
    assert found.code == 1
    assert len(Lake(own_lake).run_ids()) == 3
    assert without_times(own_lake) == without_times(tmp_path / "store")
    again = command("add", *traces[:2], "--store", own_lake)
    assert (again.code, again.out.count("already in the store as")) == (0, 2)
    assert len(Lake(own_lake).run_ids()) == 3


def test_a_run_whose_digits_another_run_has_is_added(
    command: Command, traces: list[Path], own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("add", traces[0], "--store", own_lake)
    [run_id] = Lake(own_lake).run_ids()
    monkeypatch.setattr(adding.run_ids, "likely", lambda digits, _: [run_id] if digits else [])
    result = command("add", traces[1], traces[3], "--store", own_lake)
    assert result.code == 0
    assert f"already in the store as {run_id}" in result.out
    assert len(Lake(own_lake).run_ids()) == 2


def test_runs_are_added_in_batches(
    traces: list[Path], own_lake: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "BATCH_RUNS", 2)
    assert command("add", *traces[:3], "--store", own_lake).code == 0
    assert len(Lake(own_lake).head.files) == 2


def test_a_batch_that_cannot_be_uploaded_is_an_error_of_each_path(
    command: Command, traces: list[Path], own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("add", traces[0], "--store", own_lake)

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("ingest.store.lake.place.shutil", SimpleNamespace(copyfile=fail))
    result = command("add", *traces[1:3], "--store", own_lake)
    error = f"error: {own_lake}: cannot write the store: no space left\n"
    assert (result.code, result.err) == (1, error * 2)
    assert len(Lake(own_lake).run_ids()) == 1


def test_pulled_runs_equal_the_originals(
    command: Command, local: ingest.Store, lake: str, tmp_path: Path
) -> None:
    target = tmp_path / "pulled"
    first = command("pull", lake, DEVICE, store=target)
    assert (first.code, first.err) == (0, "")
    assert first.out.endswith(f"1 run pulled from {lake}\n")
    assert command("pull", lake, store=target).out.count("\n") == len(local.run_ids())
    assert command("pull", lake, store=target).out == f"0 runs pulled from {lake}\n"
    relations = [*RELATIONS, "ops", "memory_blocks", "op_ranking", "run_features"]
    assert all_rows(target, relations) == all_rows(local.path, relations)
    assert command("check", store=target).out == f"{len(local.run_ids())} runs intact\n"
    assert command("edit", NETWORK, "--model", "m", store=target).code == 0


def test_the_same_files_under_another_name_are_not_copied(
    command: Command, traces: list[Path], own_lake: str, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    command("add", traces[0], "--name", "first", store=one)
    command("add", traces[3], "--name", "second", store=other)
    assert command("push", own_lake, store=one).out.endswith(f"1 run pushed to {own_lake}\n")
    assert command("push", own_lake, store=other).out == f"0 runs pushed to {own_lake}\n"
    assert command("pull", own_lake, store=other).out == f"0 runs pulled from {own_lake}\n"
    assert command("pull", own_lake, SNAPSHOT, store=other).code == 1

"""Changes of the runs of a lake: labels, removal, rebuilding, checks, and earlier times."""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

import ingest
from ingest.store.lake import commits
from ingest.store.lake.lake import Lake
from ingest.store.lake.rewriting import with_columns
from tests.builders.events import op
from tests.helpers.command import Command
from tests.helpers.recorded import DEVICE, NETWORK, SNAPSHOT
from tests.ingest.store.lake.answers import all_rows, rows

NAMES = (DEVICE, NETWORK, SNAPSHOT)


@pytest.fixture
def own_store(small: ingest.Store, tmp_path: Path) -> ingest.Store:
    """A store with the runs of `own_lake`, for exclusive use by the test."""
    shutil.copytree(small.path, tmp_path / "store", symlinks=True)
    store = ingest.Store(tmp_path / "store")
    store.remove(store.find("first"), store.find("second"))
    return store


def test_labels_change_as_in_a_directory(
    command: Command, own_store: ingest.Store, own_lake: str
) -> None:
    edits = (
        (DEVICE, "--name", "it's new", "--tag", "a=b", "--tag", "c=", "--note", "two\nlines"),
        ("it-s-new", "--model", "m", "--mode", "compiled", "--untag", "a"),
        ("it-s-new", "--note", "", "--model", "", "--tag", "d=e"),
        (NETWORK, SNAPSHOT, "--tag", "token=hf_" + "a" * 34),
    )
    for edit in edits:
        expected = command("edit", *edit, store=own_store.path)
        assert command("edit", *edit, "--store", own_lake) == expected
        assert expected.code == 0
        assert all_rows(own_lake) == all_rows(own_store.path)
    for wrong in ((DEVICE, "--name", ""), ("missing", "--name", "x")):
        expected = command("edit", *wrong, store=own_store.path)
        found = command("edit", *wrong, "--store", own_lake)
        assert found.err == expected.err.replace(str(own_store.path), own_lake)
        assert found.code == 1


def test_concurrent_edits_are_all_kept(own_lake: str) -> None:
    run_id = Lake(own_lake).find(DEVICE)

    def tag(key: str) -> None:
        Lake(own_lake).edit(run_id, ingest.AddOptions(tags={key: "1"}))

    keys = [f"k{number}" for number in range(6)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(tag, keys))
    with ingest.connect(own_lake) as connection:
        query = f"SELECT tags FROM runs WHERE run_id = {ingest.literal(run_id)}"
        assert connection.sql(query).fetchall() == [(dict.fromkeys(keys, "1"),)]


def test_a_commit_whose_answer_was_lost_is_not_repeated(
    own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = Lake(own_lake).find(DEVICE)
    before = DeltaTable(f"{own_lake}/runs").version()
    commit = DeltaTable.create_write_transaction

    def commit_and_fail(*arguments: object, **named: object) -> None:
        commit(*arguments, **named)  # type: ignore[arg-type]
        raise CommitFailedError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(DeltaTable, "create_write_transaction", commit_and_fail)
        Lake(own_lake).remove(run_id)
    assert DeltaTable(f"{own_lake}/runs").version() == before + 1
    assert run_id not in Lake(own_lake).run_ids()


def test_removed_runs_are_gone_at_once_and_can_return(
    command: Command, own_store: ingest.Store, own_lake: str
) -> None:
    before = all_rows(own_lake)
    reader = ingest.connect(own_lake)
    removed = command("remove", DEVICE, NETWORK, "--store", own_lake)
    assert removed.out.count("removed ") == 2
    assert "no such run" in command("remove", DEVICE, "--store", own_lake).err
    ids = [own_store.find(name) for name in (DEVICE, NETWORK)]
    kept = {
        name: [row for row in found if not any(run_id in row for run_id in ids)]
        for name, found in before.items()
    }
    assert all_rows(own_lake) == kept
    assert kept != before
    assert len(reader.sql("SELECT run_id FROM runs").fetchall()) == 3
    assert command("push", own_lake, store=own_store.path).code == 0
    assert all_rows(own_lake) == before


def test_a_lake_is_read_as_it_was_at_a_time(command: Command, own_lake: str) -> None:
    def listed(time: datetime) -> str:
        return command("list", "--as-of", time.isoformat(), "--store", own_lake).out

    expected = command("list", "--store", own_lake).out
    before = datetime.now().replace(microsecond=0)
    time.sleep(max(0.0, 1.1 - (datetime.now() - before).total_seconds()))
    before = datetime.now().replace(microsecond=0)
    time.sleep(1.1)
    command("remove", DEVICE, "--store", own_lake)
    assert command("list", "--store", own_lake).out != expected
    assert listed(before) == expected
    for file in Path(own_lake.removeprefix("file://")).glob("runs/_delta_log/*"):
        file.touch()  # as a copy of the lake
    assert listed(before) == expected
    early = command("list", "--as-of", "2020-01-01", "--store", own_lake)
    assert early.err == f"error: {own_lake}: there was no store at that time\n"
    assert Lake(own_lake, datetime.now(UTC)).run_ids() == Lake(own_lake).run_ids()


def test_runs_of_another_version_are_rebuilt(
    command: Command, own_store: ingest.Store, own_lake: str
) -> None:
    lake = Lake(own_lake)
    run_id = lake.find(DEVICE)
    command("edit", DEVICE, "--note", "kept", "--store", own_lake)
    command("edit", DEVICE, "--note", "kept", store=own_store.path)
    expected = all_rows(own_store.path)
    old = {"logic_version": "'other'", "framework": "'wrong'"}
    commits.change_runs(lake.place, lambda head: with_columns(lake.place, head, run_id, old))
    assert rows(own_lake, "runs") != expected["runs"]
    assert command("upgrade", "--store", own_lake).out == f"rebuilt {run_id}\n"
    assert all_rows(own_lake) == expected
    assert command("upgrade", "--store", own_lake).out == "all runs are up to date\n"


def test_only_runs_of_a_damaged_file_are_blamed(
    command: Command, own_lake: str, tmp_path: Path
) -> None:
    command("compact", "--store", own_lake)
    trace = tmp_path / "e.json"
    trace.write_text(json.dumps({"traceEvents": [op("a", 0, 1)]}))
    command("add", trace, "--name", "e", "--store", own_lake)
    lake = Lake(own_lake)
    for table, names in {"sources": NAMES, "memory_events": (SNAPSHOT,)}.items():
        [merged] = [f for f in lake.snapshot.files(table) if f.first != lake.find("e")]
        file = Path(own_lake.removeprefix("file://")) / table / merged.path
        content = file.read_bytes()
        file.write_bytes(content[:-100])
        lake.check()
        assert set(lake.faults()) == {lake.find(name) for name in names}, table
        file.write_bytes(content)


def test_damaged_files_are_found_and_their_runs_rebuilt(
    command: Command, own_store: ingest.Store, own_lake: str
) -> None:
    expected = all_rows(own_lake)
    assert command("check", "--store", own_lake).out == "3 runs intact\n"
    run_id = own_store.find(DEVICE)
    [name] = [
        f"kernels/{file.path}"
        for file in Lake(own_lake).snapshot.files("kernels")
        if file.first == run_id
    ]
    file = Path(own_lake.removeprefix("file://")) / name
    file.write_bytes(file.read_bytes()[:-100])
    found = command("check", "--store", own_lake)
    assert found.code == 1
    assert f"{run_id}: {name} has changed since it was written; run" in found.out
    error = command("sql", "FROM kernels", "--store", own_lake).err
    assert error.startswith(f"error: {own_lake}: cannot read the store: ")
    repaired = command("check", "--repair", "--store", own_lake)
    assert repaired.code == 0
    assert f"{run_id}: {name} has changed since it was written\nrebuilt {run_id}" in repaired.out
    assert command("check", "--store", own_lake).out == "3 runs intact\n"
    assert all_rows(own_lake) == expected

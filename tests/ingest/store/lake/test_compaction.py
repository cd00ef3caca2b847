"""Compaction and vacuum of a lake: fewer files, the same answers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

import ingest
from ingest.errors import StoreError
from ingest.store.lake import batch as batches
from ingest.store.lake import compaction
from ingest.store.lake import push as pushing
from ingest.store.lake.compaction import compact
from ingest.store.lake.lake import Lake
from ingest.store.lake.place import LakePlace
from ingest.store.lake.vacuum import vacuum
from tests.helpers.command import Command
from tests.helpers.recorded import DEVICE, NETWORK, SNAPSHOT
from tests.ingest.store.lake.answers import all_rows


def files(url: str, table: str) -> list[Path]:
    return sorted((Path(url.removeprefix("file://")) / table).glob("*/*.parquet"))


def test_compaction_changes_no_answer(command: Command, own_lake: str) -> None:
    reader = ingest.connect(own_lake)
    kernels = reader.sql("FROM kernels").fetchall()
    command("remove", NETWORK, "--store", own_lake)
    expected = all_rows(own_lake)
    printed = command("compact", "--store", own_lake)
    assert (printed.code, printed.err) == (0, "")
    assert "runs: 2 files merged to 1\n" in printed.out
    assert all_rows(own_lake) == expected
    assert not Lake(own_lake).head.state.removed
    assert len(Lake(own_lake).snapshot.files("sources")) == 1
    assert command("compact", "--store", own_lake).out == "nothing to compact\n"
    # Who reads an earlier version still has its files, until they are deleted.
    assert reader.sql("FROM kernels").fetchall() == kernels
    assert command("vacuum", "--store", own_lake).out == "0 files deleted\n"
    assert vacuum(LakePlace(own_lake), days=0) > 0
    assert [file.name for file in files(own_lake, "sources")] == [
        file.path.rpartition("/")[2] for file in Lake(own_lake).snapshot.files("sources")
    ]
    assert all_rows(own_lake) == expected
    with pytest.raises(StoreError, match="a file is gone; `ingest check` finds it"):
        ingest.read(reader, lambda: reader.sql("FROM ops").fetchall())


def test_a_wrong_clock_deletes_nothing(
    command: Command, own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It decides which files are old, also those that other processes have just uploaded."""
    before = datetime.now(UTC) - timedelta(days=8)
    monkeypatch.setattr(LakePlace, "now", lambda _: before)
    result = command("vacuum", "--store", own_lake)
    error = f"error: {own_lake}: this machine's clock differs from the storage's\n"
    assert (result.code, result.err) == (1, error)


def damage_values(file: Path) -> None:
    """Change a byte of the file so that it can still be read: a value, not the description."""
    content = file.read_bytes()
    for place in range(len(content) // 2, len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        try:
            duckdb.sql(f"FROM '{file}'").fetchall()
        except (duckdb.Error, UnicodeDecodeError):
            continue
        return


def test_a_compaction_copies_no_damaged_rows(command: Command, own_lake: str) -> None:
    for table, advice in (("sources", "run `ingest check --repair`"), ("runs", "restore it")):
        file = files(own_lake, table)[0]
        content = file.read_bytes()
        damage_values(file)
        error = command("compact", "--store", own_lake).err
        name = file.relative_to(own_lake.removeprefix("file://"))
        assert error == f"error: {own_lake}: {name} has changed since it was written; {advice}\n"
        if table == "runs":
            assert command("check", "--repair", "--store", own_lake).err == error
        file.write_bytes(content)
    assert command("compact", "--store", own_lake).code == 0


def test_rows_of_a_run_keep_their_order(own_lake: str) -> None:
    query = "SELECT run_id, event_id FROM events WHERE run_id = $1"
    run_id = Lake(own_lake).find(DEVICE)
    expected = ingest.connect(own_lake).execute(query, [run_id]).fetchall()
    list(compact(LakePlace(own_lake)))
    assert ingest.connect(own_lake).execute(query, [run_id]).fetchall() == expected


def test_merged_files_have_a_bounded_size(own_lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of a day are divided by runs, so a run is in one file."""
    expected = all_rows(own_lake)
    monkeypatch.setattr(compaction, "TARGET_BYTES", 6_000)
    monkeypatch.setattr(compaction, "_is_small", lambda _: True)
    list(compact(LakePlace(own_lake)))
    merged = Lake(own_lake).snapshot.files("sources")
    assert len(merged) > 1
    assert all(one.last < other.first for one, other in pairwise(merged))
    assert all_rows(own_lake) == expected


def test_what_a_killed_push_left_is_dropped_when_it_is_old(
    small: ingest.Store, own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = all_rows(own_lake)
    left = set(small.run_ids()) - set(Lake(own_lake).run_ids())
    before = {table: len(files(own_lake, table)) for table in ("sources", "events")}
    with monkeypatch.context() as patch:
        patch.setattr(batches, "change_runs", lambda *_: None)
        list(pushing.push(small, own_lake, left))
    place = LakePlace(own_lake)
    list(compact(place))  # another process may still commit those files
    assert len(files(own_lake, "sources")) == before["sources"] + 2
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    with monkeypatch.context() as patch:
        patch.setattr(LakePlace, "now", lambda _: tomorrow)
        list(compact(place))
    vacuum(place, days=0)
    assert len(files(own_lake, "sources")) == 1
    assert all_rows(own_lake) == expected


def test_a_push_during_a_compaction_is_kept(
    small: ingest.Store, own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [run_id for run_id in small.run_ids() if run_id not in Lake(own_lake).run_ids()]
    merge = compaction._merge
    waiting = iter([[others[0]], [others[1]]])

    def merge_after_push(*arguments: object) -> object:
        for run_ids in waiting:
            list(pushing.push(small, own_lake, run_ids))
        return merge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(compaction, "_merge", merge_after_push)
    list(compact(LakePlace(own_lake)))
    assert len(Lake(own_lake).run_ids()) == 5
    list(pushing.push(small, own_lake, others))
    assert all_rows(own_lake) == all_rows(small.path)


def test_one_of_two_compactions_at_once_fails(
    own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = all_rows(own_lake)
    steps: list[Iterator[object]] = [compact(LakePlace(own_lake))]
    merge = compaction._merge

    def merge_after_other(*arguments: object) -> object:
        if steps:
            list(steps.pop())
        return merge(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(compaction, "_merge", merge_after_other)
    with pytest.raises(StoreError, match="another process compacts"):
        list(compact(LakePlace(own_lake)))
    assert all_rows(own_lake) == expected
    assert list(compact(LakePlace(own_lake))) == []


@pytest.mark.parametrize("tables", [1, 8, 15])
def test_a_killed_compaction_loses_nothing(own_lake: str, tables: int) -> None:
    Lake(own_lake).remove(Lake(own_lake).find(SNAPSHOT))
    expected = all_rows(own_lake)
    steps = compact(LakePlace(own_lake))
    for _ in range(tables):
        next(steps)
    steps.close()
    assert all_rows(own_lake) == expected
    vacuum(LakePlace(own_lake), days=0)  # keeps the files that readers see
    assert all_rows(own_lake) == expected
    list(compact(LakePlace(own_lake)))
    assert all_rows(own_lake) == expected
    assert not Lake(own_lake).head.state.removed


def test_adding_compacts_a_lake_of_many_files(
    small: ingest.Store, own_lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "MANY_FILES", 3)
    list(pushing.push(small, own_lake, small.run_ids()))
    assert len(Lake(own_lake).head.files) == 1
    assert all_rows(own_lake) == all_rows(small.path)


def test_a_store_in_a_directory_needs_no_compaction(command: Command, small: ingest.Store) -> None:
    error = f"error: {small.path}: this works only on a store at a URL\n"
    assert command("compact", store=small.path).err == error
    assert command("vacuum", store=small.path).err == error

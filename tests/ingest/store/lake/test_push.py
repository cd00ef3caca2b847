"""Pushing runs to a lake: each run is there once and whole, whatever happens meanwhile."""

import os
import subprocess
import sys

import pytest
from deltalake import DeltaTable

import ingest
from ingest.store.lake import batch as batches
from ingest.store.lake import push as pushing
from ingest.store.lake.lake import Lake
from tests.helpers.command import Command
from tests.ingest.store.lake.answers import all_rows, rows


@pytest.fixture
def others(small: ingest.Store) -> list[str]:
    """The two runs of `small` that `own_lake` lacks."""
    return [small.find(name) for name in ("first", "second")]


def test_a_push_continues_where_another_ended(
    small: ingest.Store, own_lake: str, others: list[str]
) -> None:
    before = ingest.connect(own_lake)
    assert list(pushing.push(small, own_lake, [others[0]])) == [[others[0]]]
    assert list(pushing.push(small, own_lake, small.run_ids())) == [[others[1]]]
    assert list(pushing.push(small, own_lake, small.run_ids())) == []
    assert Lake(own_lake).run_ids() == small.run_ids()
    assert all_rows(own_lake) == all_rows(small.path)
    # An open connection sees what was there when it was opened.
    for relation in ("sources", "run_overview"):
        found = before.sql(f"SELECT DISTINCT run_id FROM {relation} ORDER BY ALL").fetchall()
        assert found == [(run_id,) for run_id in small.run_ids() if run_id not in others]


def test_a_batch_is_visible_as_a_whole(
    small: ingest.Store, own_lake: str, others: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends before the last commit leaves files that nobody reads."""
    expected = all_rows(own_lake)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(batches, "change_runs", killed)
        with pytest.raises(KeyboardInterrupt):
            list(pushing.push(small, own_lake, others))
    assert all_rows(own_lake) == expected
    list(pushing.push(small, own_lake, others))
    assert all_rows(own_lake) == all_rows(small.path)


def test_a_run_is_never_there_twice(
    small: ingest.Store, own_lake: str, others: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes find that the lake lacks a run. The second one leaves it out."""
    first, second = others
    before = Lake(own_lake)
    list(pushing.push(small, own_lake, [first]))
    monkeypatch.setattr(Lake, "created", lambda _: before)
    assert list(pushing.push(small, own_lake, [first])) == [[]]
    assert list(pushing.push(small, own_lake, [first, second])) == [[second]]
    assert all_rows(own_lake) == all_rows(small.path)


@pytest.mark.parametrize("table", ["sources", "runs"])
def test_tables_that_another_program_rewrote_are_an_error(
    command: Command, small: ingest.Store, own_lake: str, others: list[str], table: str
) -> None:
    DeltaTable(f"{own_lake}/{table}").optimize.compact()
    if table == "sources":  # the next commit of `runs` names the version after that
        list(pushing.push(small, own_lake, others))
    result = command("sql", "SELECT count(*) FROM sources", "--store", own_lake)
    assert result.code == 1
    assert "another program rewrote its tables" in result.err


def test_processes_can_push_at_once(small: ingest.Store, own_lake: str, others: list[str]) -> None:
    program = "import sys; from ingest.cli.main import command; command()"
    pushers = [
        subprocess.Popen(
            [sys.executable, "-c", program, "push", own_lake, *run_ids, "--store", small.path],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.getcwd()},
        )
        for run_ids in (others[:1], others[1:], others)
    ]
    for pusher in pushers:
        pusher.communicate()
        assert pusher.returncode == 0
    assert rows(own_lake, "sources") == rows(small.path, "sources")
    assert rows(own_lake, "runs") == rows(small.path, "runs")

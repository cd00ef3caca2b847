"""Work on a Dask cluster: adding, rebuilding, and queries for each run."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

import ingest
from ingest.errors import IngestError
from ingest.store.cluster import cluster_at
from ingest.store.each import collect_each
from ingest.store.lake import batch
from ingest.store.lake.lake import Lake
from ingest.store.opening import existing
from ingest.store.written import Read
from tests.builders.events import kernel, op
from tests.helpers.command import Command
from tests.ingest.store.lake.answers import RELATIONS, all_rows

COLUMNS = {"runs": "* EXCLUDE (ingested_at)", "run_overview": "* EXCLUDE (ingested_at)"}
EACH = "SELECT name, count(*) AS calls, sum(dur_ns) AS dur_ns FROM events GROUP BY ALL"
REDUCE = "SELECT name, sum(calls)::BIGINT AS calls, sum(dur_ns) AS dur_ns FROM each GROUP BY ALL"


@pytest.fixture(scope="module")
def scheduler() -> Iterator[LocalCluster]:
    """A cluster of two workers, which other machines could be."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        cluster.adapt(minimum=2, maximum=2)  # a worker that dies as it starts comes back
        yield cluster


@pytest.fixture
def traces(tmp_path: Path) -> list[Path]:
    """Traces with other durations."""
    found = []
    for number in (1, 2, 3):
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


def answers(place: str | Path) -> dict[str, list[str]]:
    queries = [f"(SELECT {COLUMNS.get(name, '*')} FROM {name})" for name in RELATIONS]
    return all_rows(place, queries)


@pytest.mark.parametrize("kind", ["directory", "lake"])
def test_runs_are_the_same_as_without_a_cluster(
    command: Command,
    traces: list[Path],
    kind: str,
    own_lake: str,
    scheduler: LocalCluster,
    tmp_path: Path,
) -> None:
    place = own_lake if kind == "lake" else str(tmp_path / "store")
    missing = tmp_path / "missing.json"
    alone = command("add", *traces, missing, "--tag", "a=b", store=tmp_path / "alone")
    arguments = ("--store", place, "--cluster", scheduler.scheduler_address)
    found = command("add", *traces, missing, "--tag", "a=b", *arguments)
    assert (found.code, found.err) == (alone.code, alone.err)
    assert answers(place) == answers(tmp_path / "alone")
    again = command("add", *traces, *arguments)
    assert (again.code, again.out.count("already in the store as")) == (0, 3)
    store = existing(place)
    rebuilt = store.rebuild_all(store.run_ids(), cluster=scheduler.scheduler_address)
    assert dict(rebuilt) == dict.fromkeys(store.run_ids())
    assert answers(place) == answers(tmp_path / "alone")


def test_runs_of_killed_workers_are_written_again(
    traces: list[Path],
    own_lake: str,
    scheduler: LocalCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch, "BATCH_RUNS", 1)
    alone = ingest.Store(tmp_path / "alone")
    for path in traces:
        alone.add(path)
    outcomes = Lake(own_lake).add_all(
        traces, ingest.AddOptions(), cluster=scheduler.scheduler_address
    )
    paths = []
    with Client(scheduler.scheduler_address) as client:
        for path, added in outcomes:
            if not paths:  # the workers have what is not yet in the lake
                for pid in client.run(os.getpid).values():
                    os.kill(pid, signal.SIGKILL)
            paths.append(path)
            assert not isinstance(added, IngestError)
    assert sorted(paths) == traces
    assert answers(own_lake) == answers(alone.path)


def test_a_run_that_ends_its_worker_stops_no_other(scheduler: LocalCluster, tmp_path: Path) -> None:
    def work(item: str, _: Path, threads: int | None, report: Callable[[int], None]) -> Read:
        if item == "fatal":
            os._exit(1)
        if item == "odd":
            raise ValueError(f"{item} in {threads} thread")
        report(1)
        return Read([item], [], 0.0)

    with cluster_at(scheduler.scheduler_address) as cluster:
        found = dict(cluster.write_all(["a", "fatal", "odd", "b"], work))
    assert found["a"] == Read(["a"], [], 0.0)
    assert found["b"] == Read(["b"], [], 0.0)
    assert str(found["odd"]) == "odd: odd in 1 thread"
    assert str(found["fatal"]) == "fatal: the worker that reads it ends each time; out of memory?"


def test_workers_of_another_version_are_an_error(
    command: Command,
    traces: list[Path],
    scheduler: LocalCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = ingest.Store(tmp_path / "store")
    monkeypatch.setattr("ingest.store.cluster.sql.logic_version", lambda: "other")
    arguments = ("--cluster", scheduler.scheduler_address)
    result = command("add", traces[0], *arguments, store=store.path)
    assert (result.code, result.err) == (
        1,
        "error: the workers have another version of tracehouse\n",
    )
    assert store.run_ids() == []


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers there"),
        ("local:0", "a cluster is tcp://HOST:PORT or local:N"),
        ("nowhere", "a cluster is tcp://HOST:PORT or local:N"),
    ],
)
def test_a_wrong_address_is_an_error(
    command: Command,
    traces: list[Path],
    address: str,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.store.cluster.CONNECT_SECONDS", 0.5)
    result = command("add", traces[0], "--cluster", address, store=tmp_path / "store")
    assert (result.code, result.err) == (1, f"error: {address}: {problem}\n")


def test_processes_and_a_cluster_exclude_each_other(command: Command, traces: list[Path]) -> None:
    result = command("add", traces[0], "--cluster", "local:1", "--jobs", "2")
    assert result.code == 2
    assert "give either --jobs or --cluster" in result.err


@pytest.mark.parametrize("is_on_cluster", [False, True])
def test_a_query_for_each_run_and_its_reduction(
    command: Command,
    small: ingest.Store,
    own_lake: str,
    scheduler: LocalCluster,
    is_on_cluster: bool,
) -> None:
    cluster = ("--cluster", scheduler.scheduler_address) if is_on_cluster else ()
    for store in (str(small.path), own_lake):
        at_once = command("sql", f"{EACH} ORDER BY ALL", "--format", "json", "--store", store)
        arguments = ("sql", "--each", EACH, "--format", "json", "--store", store, *cluster)
        reduced = command(*arguments, "--reduce", f"{REDUCE} ORDER BY ALL")
        assert (reduced.code, reduced.err) == (0, "")
        assert json.loads(reduced.out) == json.loads(at_once.out)
        alone = command(
            *("sql", "--each", "SELECT (SELECT count(*) FROM runs) AS runs"),
            *("--reduce", "SELECT run_id, runs FROM each ORDER BY ALL", "--format", "json"),
            *("--store", store, *cluster),
        )
        run_ids = existing(store).run_ids()
        assert json.loads(alone.out) == [{"run_id": run_id, "runs": 1} for run_id in run_ids]


def test_the_progress_of_a_query_for_each_run(small: ingest.Store) -> None:
    seen: list[tuple[int, int]] = []
    errors = collect_each(
        ingest.connect(small.path), small, EACH, progress=lambda *numbers: seen.append(numbers)
    )
    assert list(errors) == []
    runs = len(small.run_ids())
    assert seen == [(done, runs) for done in range(1, runs + 1)]


def test_a_query_that_fails_for_a_run_is_listed(command: Command, small: ingest.Store) -> None:
    [one, *others] = small.run_ids()
    each = f"SELECT if(run_id = '{one}', error('no'), 1) AS n FROM runs"
    result = command("sql", "--each", each, "--format", "csv", store=small.path)
    assert (result.code, result.out) == (1, "".join(["run_id,n\n", *(f"{i},1\n" for i in others)]))
    assert result.err == f"error: {one}: Invalid Input Error: no\n"
    for each in ("SELECT nothing FROM runs", ";"):
        assert command("sql", "--each", each, store=small.path).code == 1

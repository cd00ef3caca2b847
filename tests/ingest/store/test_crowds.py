"""Concurrent processes that create, change and read one store."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import duckdb
import pytest

import ingest
from ingest.errors import StoreError
from ingest.store.directory.reading.retry import retry_if_removed
from tests.helpers.stores import is_at_rest

pytestmark = pytest.mark.slow  # starts many processes
EVENT = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}


# Forks a process for each command, so that all begin at the same time.
PROGRAM = """
import json, os, sys, tempfile
import duckdb, pyarrow.parquet
from ingest.cli import app, main

processes = []
for arguments in json.loads(sys.argv[1]):
    texts = [tempfile.TemporaryFile("w+") for _ in range(2)]
    process = os.fork()
    if not process:
        for descriptor, text in enumerate(texts, 1):
            os.dup2(text.fileno(), descriptor)
        sys.argv = ["ingest", *arguments]
        code = 1
        try:
            main.main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    processes.append((process, texts))
results = []
for process, texts in processes:
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    for text in texts:
        text.seek(0)
    results.append([code, *(text.read() for text in texts)])
print(json.dumps(results))
"""


def all_succeed(*commands: list[object]) -> list[str]:
    """Run commands at the same time, each in a process. Return the output of each."""
    arguments = json.dumps([[str(argument) for argument in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, arguments], capture_output=True, text=True, check=True
    )
    results = json.loads(done.stdout)
    assert [(code, err) for code, _, err in results] == [(0, "")] * len(commands)
    return [out for _, out, _ in results]


@pytest.fixture
def trace(tmp_path: Path) -> Callable[[int], Path]:
    """A function that writes a trace of one event, different for each number."""

    def made(number: int) -> Path:
        path = tmp_path / f"trace{number}.json"
        path.write_text(json.dumps({"traceEvents": [{**EVENT, "dur": number + 1}]}))
        return path

    return made


def test_concurrent_adds_of_the_same_content_make_one_run(
    trace: Callable[[int], Path], store: ingest.Store
) -> None:
    path = trace(0)
    outs = all_succeed(*(["add", path, "--name", f"n{i}", "--store", store.path] for i in range(3)))
    [run_id] = store.run_ids()
    assert sum(out.startswith(f"{run_id}  (") for out in outs) == 1, outs
    assert sum(f"already in the store as {run_id}" in out for out in outs) == 2, outs


def test_processes_that_create_one_store_together_all_add_their_runs(
    trace: Callable[[int], Path], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    paths = [trace(number) for number in range(6)]
    all_succeed(*(["add", path, "--store", store] for path in paths))
    assert [run_id.rpartition("-")[0] for run_id in ingest.Store(store).run_ids()] == [
        path.stem for path in paths
    ]
    durations = ingest.connect(store).sql("SELECT dur_ns FROM events ORDER BY ALL").fetchall()
    assert durations == [(1000 * (number + 1),) for number in range(len(paths))]
    assert is_at_rest(store)


def test_readers_see_complete_runs_while_others_are_added_and_removed(
    trace: Callable[[int], Path], store: ingest.Store
) -> None:
    kept = store.add(trace(0)).run_id
    connection = ingest.connect(store.path)
    changed = trace(1)
    over = Event()

    def add_and_remove() -> None:
        while not over.is_set():
            run_id = store.add(changed).run_id
            with suppress(StoreError):  # the other thread removed it
                store.remove(run_id)

    changing = [Thread(target=add_and_remove) for _ in range(2)]
    for thread in changing:
        thread.start()
    try:
        for _ in range(100):
            rows = retry_if_removed(
                lambda: connection.sql("SELECT run_id, dur_ns FROM events").fetchall()
            )
            assert (kept, 1000) in rows
            assert {dur for _, dur in rows} <= {1000, 2000}
        reading = (["sql", "FROM ops"], ["list"], ["show", kept], ["top", kept])
        outs = all_succeed(*([*arguments, "--store", store.path] for arguments in reading))
    finally:
        over.set()
        for thread in changing:
            thread.join()
    assert all(out for out in outs)
    assert store.run_ids() == [kept]


def test_a_file_that_stays_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(duckdb.IOException):
        retry_if_removed(lambda: duckdb.sql(f"FROM read_parquet('{tmp_path}/none.parquet')"))

"""Readers beside writers: every answer is the state of the store before or after a change."""

import gc
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

import ingest
from ingest import server
from ingest.store.directory.files import leases
from tests.helpers.stores import is_at_rest, listing

pytestmark = pytest.mark.slow  # starts several processes
OPERATIONS = int(os.environ.get("TRACEHOUSE_TEST_OPERATIONS", "8"))
EVENT = {"ph": "X", "name": "a", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1}
# The columns come from different files and from the index.
QUERY = """
    SELECT o.run_id, o.model, r.model AS model_of_run, o.events,
        (SELECT count(*) FROM events AS e WHERE e.run_id = o.run_id),
        (SELECT count(*) FROM sources AS s WHERE s.run_id = o.run_id)
    FROM run_overview AS o LEFT JOIN runs AS r USING (run_id) ORDER BY o.run_id
"""
Row = tuple[object, ...]


@pytest.fixture
def trace(tmp_path: Path) -> Callable[[int], Path]:
    """A function that writes a trace of as many events as its number."""

    def made(number: int) -> Path:
        path = tmp_path / f"trace{number}.json"
        events = [{**EVENT, "ts": ts, "dur": 1} for ts in range(1, 2 * number, 2)]
        path.write_text(json.dumps({"traceEvents": events}))
        return path

    return made


@contextmanager
def reader(
    store: Path, answers: Path, question: Callable[[Path], Callable[[], object]]
) -> Iterator[None]:
    """Let another process ask a question again and again, and write down each answer or error."""
    process = os.fork()
    if not process:
        gc.freeze()  # to free a database of the parent crashes, because its threads are not here
        try:
            ask = question(store)
            with answers.open("w") as file:
                while True:
                    file.write(json.dumps(ask()) + "\n")
                    file.flush()
                    time.sleep(0.05)  # leaves the processors to the writer
        except BaseException as error:
            with answers.open("a") as file:
                file.write(json.dumps(f"{type(error).__name__}: {error}") + "\n")
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def by_connection(store: Path) -> Callable[[], object]:
    """Ask in a connection without retries, as a notebook does."""
    connection = ingest.connect(store)
    return lambda: connection.execute(QUERY).fetchall()


def by_relation(store: Path) -> Callable[[], object]:
    """Bind the question first, and read the answer later."""
    connection = ingest.connect(store)
    return lambda: connection.sql(QUERY).fetchall()


def by_sandbox(store: Path) -> Callable[[], object]:
    """Ask in a process of the sandbox."""
    sandbox = server.Sandbox(store, seconds=60)
    return lambda: [list(row.values()) for row in sandbox.query(QUERY).table.to_pylist()]


def by_new_connection(store: Path) -> Callable[[], object]:
    """Open the store for each question, as a command does."""
    return lambda: ingest.connect(store).execute(QUERY).fetchall()


def test_every_answer_is_the_state_before_or_after_a_change(
    store: ingest.Store, trace: Callable[[int], Path], tmp_path: Path
) -> None:
    chance = random.Random(7)
    state: dict[str, Row] = {}
    states = [[list(row) for row in state.values()]]

    def changed(run_id: str, row: Row | None) -> None:
        if row:
            state[run_id] = row
        else:
            del state[run_id]
        states.append([list(state[run_id]) for run_id in sorted(state)])

    def add(number: int) -> None:
        run_id = store.add(trace(number), threads=1).run_id
        changed(run_id, (run_id, None, None, number, number, 1))

    add(1)
    questions = (by_connection, by_relation, by_sandbox, by_new_connection)
    answers = [tmp_path / question.__name__ for question in questions]
    with (
        reader(store.path, answers[0], questions[0]),
        reader(store.path, answers[1], questions[1]),
        reader(store.path, answers[2], questions[2]),
        reader(store.path, answers[3], questions[3]),
    ):
        _wait_for(answers)
        for number in range(2, OPERATIONS + 2):
            run_id = chance.choice(sorted(state))
            operation = chance.choice(("add", "edit", "remove", "rebuild"))
            if operation == "add" or len(state) < 3:
                add(number)
            elif operation == "edit":
                model = f"model {number}"
                store.edit(run_id, ingest.AddOptions(model=model))
                changed(run_id, (run_id, model, model, *state[run_id][3:]))
            elif operation == "remove":
                store.remove(run_id)
                changed(run_id, None)
            else:
                store.rebuild(run_id, threads=1)
        _wait_for(answers)
    for file in answers:
        given = [json.loads(line) for line in file.read_text().splitlines() if line.endswith("]")]
        errors = [line for line in file.read_text().splitlines() if line.startswith('"')]
        assert errors == [], file.name
        unknown = [answer for answer in given if answer not in states]
        assert unknown == [], file.name
        assert given[-1] == states[-1], file.name


def _wait_for(answers: list[Path]) -> None:
    """Wait until each reader has given two more answers, so that it began the second one later."""
    texts = [_text(file) for file in answers]
    for file, before in zip(answers, texts, strict=True):
        while (text := _text(file)).count("\n") < before.count("\n") + 2:
            assert not text.endswith('"\n'), text
            time.sleep(0.01)


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def test_a_relation_that_was_bound_before_a_change_is_whole(
    store: ingest.Store, trace: Callable[[int], Path]
) -> None:
    store.add(trace(1))
    relation = ingest.connect(store).sql(QUERY)
    run_id = store.add(trace(2)).run_id
    assert (run_id, None, None, 2, 2, 1) in relation.fetchall()


def test_a_transaction_sees_the_store_as_it_was_at_its_first_statement(
    store: ingest.Store, trace: Callable[[int], Path]
) -> None:
    first = store.add(trace(1)).run_id
    connection = ingest.connect(store)
    connection.begin()
    before = connection.execute(QUERY).fetchall()
    store.remove(first)
    store.add(trace(2))
    assert connection.execute(QUERY).fetchall() == before
    connection.commit()
    assert [row[3] for row in connection.execute(QUERY).fetchall()] == [2]


def test_files_of_a_removed_run_are_deleted_when_nobody_can_be_reading_them(
    store: ingest.Store, trace: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = store.add(trace(1)).run_id
    files = store.run_path(run_id)
    connection = ingest.connect(store)
    store.remove(run_id)
    assert files.exists()  # the connection may have a statement that reads them
    monkeypatch.setattr(leases, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(leases, "SKEW_NS", 0)
    with leases.keeping_files(store.path):
        store.add(trace(2))
    other = store.add(trace(3)).run_id
    assert not files.exists()
    with leases.keeping_files(store.path):
        files = store.run_path(other)
        store.remove(other)
        store.refresh()
        assert files.exists()  # a statement began before the run was removed
    store.refresh()
    assert not files.exists()
    connection.close()
    assert is_at_rest(store.path)


def test_files_are_kept_in_a_store_that_was_made_anew_beside_a_connection(
    store: ingest.Store, trace: Callable[[int], Path]
) -> None:
    with ingest.connect(store) as connection:
        shutil.rmtree(store.path)
        made_anew = ingest.Store(store.path)
        run_id = made_anew.add(trace(1)).run_id
        assert connection.execute("SELECT count(*) FROM runs").fetchall() == [(1,)]
        files = made_anew.run_path(run_id)
        made_anew.remove(run_id)
        assert files.exists()


def test_without_readers_files_are_deleted_at_once(
    store: ingest.Store, trace: Callable[[int], Path]
) -> None:
    run_id = store.add(trace(1)).run_id
    files = store.run_path(run_id)
    store.edit(run_id, ingest.AddOptions(model="n"))
    assert not files.exists()
    store.remove(run_id)
    assert listing(store.path)["runs"] == []
    assert not list((store.path / "revisions").glob("*/*"))


def test_other_programs_follow_the_links(store: ingest.Store, trace: Callable[[int], Path]) -> None:
    ingest.connect(store).close()
    catalog = str(store.path / "catalog.duckdb")
    with duckdb.connect(catalog, read_only=True) as other:
        run_id = store.add(trace(2)).run_id
        for model in ("a", "b"):
            store.edit(run_id, ingest.AddOptions(model=model))
            assert other.execute(QUERY).fetchall() == [(run_id, model, model, 2, 2, 1)]
        store.remove(run_id)
        assert other.execute(QUERY).fetchall() == []

"""The sandbox's limits on time, memory and result size."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingest import QueryError
from ingest.sandbox import Sandbox
from ingest.sandbox.worker import Worker
from tests.ingest.sandbox.conftest import MIB, PATIENCE, answers

SLEEP = "SELECT sleep_ms(1000000)"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM range(1000000000000)",
        "SELECT count(*) FROM range(9000000) a, range(9000000) b WHERE hash(a.range + b.range) = 1",
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
        "SELECT sum(length(lpad('', 1000000, range::VARCHAR))) FROM range(1000000000)",
        "SELECT lpad('', 2000000000, 'x') || lpad('', 2000000000, 'y')",
        SLEEP,
    ],
)
def test_a_query_is_stopped_in_time(hasty, query):
    with pytest.raises(QueryError, match=r"Stopped after 1 s|exceeded its memory limit"):
        hasty.query(query)
    assert answers(hasty)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT list_sort(range(200000000))",
        "SELECT list(range) FROM range(100000000)",
        "SELECT range(10000000) FROM range(100000)",
        "SELECT repeat('x', 4000000000)",
        "SELECT repeat('x', 100000000) || n FROM range(100) t(n)",
        "SELECT string_agg(range::VARCHAR, ', ') FROM range(300000000)",
        "SELECT range AS g, list(range) FROM range(50000000) GROUP BY g",
        "SELECT DISTINCT md5(range::VARCHAR) FROM range(50000000)",
        "SELECT row_number() OVER (ORDER BY md5(range::VARCHAR)) FROM range(100000000)",
        "SELECT a.range, b.range FROM range(30000000) a JOIN range(30000000) b USING (range)"
        " ORDER BY md5(a.range::VARCHAR)",
    ],
)
def test_a_query_that_needs_too_much_memory_is_stopped(poor, query):
    with pytest.raises(QueryError, match="exceeded its memory limit"):
        poor.query(query)
    assert answers(poor)


def test_text_longer_than_a_value_can_be_is_refused(sandbox):
    with pytest.raises(QueryError, match="maximum"):
        sandbox.query("SELECT repeat('x', 10000000000)")
    assert answers(sandbox)


def test_the_size_of_a_result_is_limited(store):
    sandbox = Sandbox(store, size=MIB)
    wide = sandbox.query("SELECT repeat('x', 1000) AS x FROM range(100000)")
    assert 1_000 < wide.table.num_rows < 1_050
    assert wide.cut_at == "1 MiB"
    single = sandbox.query(f"SELECT repeat('x', {2 * MIB}) AS x")
    assert (single.table.num_rows, single.complete) == (0, False)
    columns = ", ".join(f"range AS c{number}" for number in range(2_000))
    assert 0 < sandbox.query(f"SELECT {columns} FROM range(10000)").table.num_rows < 100
    assert answers(sandbox)


@pytest.fixture
def processes(monkeypatch):
    """The processes of sandboxes, in the order in which they are ready."""
    found = []

    class Recorded(Worker):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            found.append(self._process)

    monkeypatch.setattr("ingest.sandbox.sandbox.Worker", Recorded)
    return found


def test_a_slow_query_does_not_block_others(store, processes):
    sandbox = Sandbox(store, seconds=PATIENCE)
    with ThreadPoolExecutor() as threads:
        slow = threads.submit(sandbox.query, SLEEP)
        until(lambda: processes or slow.done())
        assert answers(sandbox)
        assert not slow.done()
        processes[0].kill()
    assert isinstance(slow.exception(), QueryError)


def test_queries_wait_for_a_free_process(store, processes):
    sandbox = Sandbox(store, seconds=PATIENCE, processes=1)
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(sandbox.query, SLEEP)
        until(lambda: processes or slow.done())
        waiting = threads.submit(answers, sandbox)
        assert not waiting.done()
        processes[0].kill()
        assert waiting.result()
        assert isinstance(slow.exception(), QueryError)


def until(happens):
    """Wait until something happens."""
    while not happens():
        time.sleep(0.01)

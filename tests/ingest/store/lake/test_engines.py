"""Other engines answer questions about a lake as DuckDB does about the same runs in a directory."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import polars
import pytest

import ingest
from ingest.store.lake import batch as batches
from ingest.store.lake import push as pushing
from ingest.store.lake.lake import Lake
from tests.helpers.recorded import DEVICE, NETWORK

Rows = list[tuple[Any, ...]]
Engine = Callable[[str, Sequence[str]], list[Rows]]

# All engines take the same SQL.
QUESTIONS = {
    "Which categories of events take the most time?": """
        SELECT category, count(*) AS events, sum(dur_ns) AS total_ns
        FROM events
        GROUP BY category
    """,
    "Which kernels take the most time of a device?": """
        SELECT run_id, device_id, name, count(*) AS calls, sum(dur_ns) AS total_ns
        FROM kernels
        WHERE kind = 'kernel'
        GROUP BY run_id, device_id, name
    """,
    "How often does each run call an op?": """
        SELECT run_id, name, count(*) AS calls, sum(self_ns) AS self_ns
        FROM ops
        WHERE category = 'cpu_op'
        GROUP BY run_id, name
    """,
    "How much memory does each run need, and up to which address?": """
        SELECT
            run_id,
            device_id,
            max(allocated_bytes) AS peak_bytes,
            max(CAST(address AS BIGINT)) AS last_address
        FROM memory_events
        GROUP BY run_id, device_id
    """,
    "How many steps does each run have, and how long are they?": """
        SELECT
            runs.name,
            framework,
            count(step) AS steps,
            min(dur_ns) AS shortest_ns,
            max(dur_ns) AS longest_ns
        FROM runs
        JOIN steps USING (run_id)
        GROUP BY runs.name, framework
    """,
}
TABLES = ("events", "kernels", "ops", "memory_events", "sources", "steps")
# ClickHouse starts threads and replaces the allocator, so it gets a process of its own.
CLICKHOUSE = """
import json
import sys
import chdb
for query in json.load(sys.stdin):
    lines = str(chdb.query(query, "JSONCompactEachRow")).splitlines()
    print(json.dumps([json.loads(line) for line in lines]))
"""


def with_polars(lake: str, queries: Sequence[str]) -> list[Rows]:
    """Return the answers of Polars about the visible rows."""
    runs = polars.scan_delta(f"{lake}/runs")
    visible = {
        table: polars.scan_delta(f"{lake}/{table}").join(runs, on=["run_id", "batch"], how="semi")
        for table in TABLES
    }
    with polars.SQLContext(runs=runs, **visible) as context:
        return [context.execute(query, eager=True).rows() for query in queries]


def with_clickhouse(lake: str, queries: Sequence[str]) -> list[Rows]:
    """Return the answers of ClickHouse about the visible rows."""
    directory = directory_of(lake)

    def stored(table: str) -> str:
        return f"SELECT stored.* FROM deltaLakeLocal('{directory}/{table}') AS stored"

    settings = "SETTINGS cast_keep_nullable = 1"  # CAST accepts null
    relations = [f"runs AS ({stored('runs')})"]
    for table in TABLES:
        relations.append(f"{table} AS ({stored(table)} SEMI JOIN runs USING (run_id, batch))")
    visible = f"WITH {', '.join(relations)}"
    done = subprocess.run(
        [sys.executable, "-c", CLICKHOUSE],
        cwd=directory,  # chDB reads no file outside
        input=json.dumps([f"{visible} {query} {settings}" for query in queries]),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [list(map(tuple, json.loads(line))) for line in done.stdout.splitlines()]


def directory_of(lake: str) -> str:
    """Return the directory of a lake."""
    return lake.removeprefix("file://")


ENGINES = pytest.mark.parametrize("engine", [with_polars, with_clickhouse])


@ENGINES
def test_other_engines_have_the_same_answers(
    local: ingest.Store, lake: str, engine: Engine
) -> None:
    answers = engine(lake, list(QUESTIONS.values()))
    with ingest.connect(local) as connection:
        for (question, query), found in zip(QUESTIONS.items(), answers, strict=True):
            expected = connection.execute(query).fetchall()
            assert expected, question
            assert sorted(found, key=repr) == sorted(expected, key=repr), question


@pytest.fixture(scope="module")
def leftovers(local: ingest.Store, lake: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A lake with rows of a killed push and of removed runs. `DEVICE` is not in it any more."""
    url = f"file://{tmp_path_factory.mktemp('leftovers')}/runs"
    shutil.copytree(directory_of(lake), directory_of(url))
    runs = [local.find(name) for name in (DEVICE, NETWORK)]
    Lake(url).remove(*runs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "change_runs", lambda *_: None)
        list(pushing.push(local, url, runs))
    list(pushing.push(local, url, runs[1:]))
    stored = polars.read_delta(f"{url}/sources")["run_id"].to_list()
    assert [stored.count(run_id) for run_id in runs] == [2, 3]
    return url


@ENGINES
def test_other_engines_find_the_visible_rows(
    local: ingest.Store, leftovers: str, engine: Engine
) -> None:
    """A join with `runs` leaves out rows of killed pushes, and of removed runs."""
    query = "SELECT run_id, path FROM sources"
    (found,) = engine(leftovers, [query])
    with ingest.connect(local) as connection:
        rows = connection.execute(query).fetchall()
    assert sorted(found) == sorted(row for row in rows if row[0] != local.find(DEVICE))

"""The read-only console: what it answers, and what it refuses with a clear word."""

import csv
import io
import json
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ingest import Console, QueryError, Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store."""
    return Store(tmp_path_factory.mktemp("console") / "store").path


@pytest.fixture(scope="module")
def console(store: Path) -> Console:
    """A console on it."""
    return Console(store)


def files(directory: Path) -> set[Path]:
    return set(directory.rglob("*"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1",
        "FROM runs",
        "WITH x AS (SELECT 42 AS n) SELECT n FROM x;",
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) FROM t",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "DESCRIBE kernels",
        "SHOW TABLES",
        "SUMMARIZE runs",
        "PIVOT bubble_causes ON cause IN ('host', 'sync') USING sum(bubble_ns) GROUP BY run_id",
        "SELECT 'COPY_TO_FILE', 'INSERT_QUERY_NODE' -- words are no deeds",
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'kernels'",
        "FROM device_occupancy('run', 0, 0, 0, 1000, 10)",
    ],
)
def test_reading_is_allowed(console, query):
    assert console.query(query).complete


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("CREATE TABLE t (a INT)", "CREATE"),
        ("DROP VIEW runs", "DROP"),
        ("DELETE FROM runs", "DELETE"),
        ("INSERT INTO runs VALUES (1)", "INSERT"),
        ("UPDATE runs SET name = ''", "UPDATE"),
        ("COPY (SELECT 1) TO '{store}/x.csv'", "COPY"),
        ("EXPORT DATABASE '{store}/x'", "EXPORT"),
        ("WITH x AS (COPY (SELECT 1) TO '{store}/x.csv') SELECT 1", "COPY"),
        ("WITH x AS (INSERT INTO t VALUES (1)) SELECT 1", "INSERT"),
        ("WITH x AS (DELETE FROM runs RETURNING *) FROM x", "DELETE"),
        ("SELECT * FROM (WITH x AS (COPY (SELECT 1) TO '{store}/x.csv') SELECT 1)", "COPY"),
        (
            "FROM json_execute_serialized_sql(json_serialize_sql("
            "'WITH x AS (COPY (SELECT 1) TO ''{store}/x.csv'') SELECT 1'))",
            "json_execute_serialized_sql",
        ),
        ("FROM query('WITH x AS (COPY (SELECT 1) TO ''{store}/x.csv'') SELECT 1')", "query"),
        ("FROM read_csv('/etc/passwd')", "read_csv"),
        ("FROM system.main.read_text('/etc/passwd')", "read_text"),
        ("SELECT (SELECT count(*) FROM read_blob('/etc/passwd'))", "read_blob"),
        ("FROM read_parquet('{store}/runs/*/runs.parquet')", "read_parquet"),
        ("FROM glob('/etc/*')", "glob"),
        ("FROM '/etc/passwd'", "does not exist"),
        ("ATTACH '/tmp/other.duckdb'", "ATTACH"),
        ("INSTALL httpfs", "INSTALL"),
        ("LOAD httpfs", "LOAD"),
        ("SET threads = 1", "SET"),
        ("PRAGMA threads = 1", "PRAGMA"),
        ("CALL pragma_version()", "CALL"),
        ("UPDATE EXTENSIONS", "UPDATE"),
        ("/* sly */ VACUUM", "VACUUM"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("", "write a query"),
        ("-- nothing", "write a query"),
        ("PIVOT bubble_causes ON cause USING sum(bubble_ns)", "PIVOT"),
        ("SELECT " + "[" * 900 + "]" * 900, "nested"),
        ("SELEC 1", "syntax error"),
        ("SELECT $1", "parameters"),
    ],
)
def test_everything_else_is_refused_with_a_word(console, store, query, word):
    before = files(store.parent)

    with pytest.raises(QueryError, match=word):
        console.query(query.format(store=store))

    assert files(store.parent) == before
    assert console.query("SELECT 42 AS n").table.to_pydict() == {"n": [42]}


def test_errors_are_about_the_query_as_it_was_written(console):
    with pytest.raises(QueryError, match="nowhere does not exist") as refused:
        console.query("SELECT * FROM nowhere")
    assert "EXPLAIN" not in str(refused.value)


def test_a_query_is_stopped_in_time(store):
    with pytest.raises(QueryError, match=r"Stopped after 0.2 s"):
        Console(store, seconds=0.2).query("SELECT count(*) FROM range(1000000000000)")


def test_a_query_that_needs_too_much_memory_is_stopped(store):
    with pytest.raises(QueryError, match="memory"):
        Console(store, memory="64MB").query("SELECT list(range) FROM range(100000000)")


def test_rows_are_limited_and_it_says_so(store):
    result = Console(store, rows=5).query("SELECT range AS n FROM range(10) ORDER BY n DESC")
    assert result.table.column("n").to_pylist() == [9, 8, 7, 6, 5]
    assert not result.complete


def test_integers_stay_exact(console):
    result = console.query(
        "SELECT sum(n) AS s, NULL::BIGINT AS none FROM (SELECT 9007199254740993 n)"
    )
    assert result.frame()["s"].tolist() == [9007199254740993]
    assert result.csv().decode().splitlines()[1] == "9007199254740993,"


def test_results_of_every_type_can_be_downloaded(console):
    result = console.query(
        "SELECT 1 AS a, 2 AS a, map {'k': 'v'} AS m, [1, 2] AS l, {'x': 1} AS s,"
        " INTERVAL 1 DAY AS i, now() AS t, 'é,\"' AS q, '{}'::JSON AS j, uuid() AS u"
    )
    (row,) = csv.DictReader(io.StringIO(result.csv().decode()))
    assert (row["a"], row["a_1"], row["q"]) == ("1", "2", 'é,"')
    assert json.loads(row["m"]) == {"k": "v"}
    assert pq.read_table(io.BytesIO(result.parquet())).num_rows == 1


def test_threads_share_a_console(console):
    answers: list[int] = []

    def ask(n: int) -> None:
        answers.extend(console.query(f"SELECT {n} AS n").table.column("n").to_pylist())

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(8))

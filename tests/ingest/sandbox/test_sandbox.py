"""The read-only sandbox: the queries that it answers, and those that it refuses."""

import csv
import io
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ingest
from ingest import QueryError
from ingest.sandbox import Sandbox
from tests.ingest.sandbox.conftest import ENDLESS, PATIENCE, answers


def files(directory: Path) -> set[Path]:
    return set(directory.rglob("*"))


READING = [
    "SELECT 1",
    "FROM runs",
    "WITH x AS (SELECT 42 AS n) SELECT n FROM x;",
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) FROM t",
    "(SELECT 1) UNION ALL (SELECT 2)",
    "DESCRIBE kernels",
    "SHOW TABLES",
    "SUMMARIZE runs",
    "PIVOT bubble_causes ON cause IN ('host', 'sync') USING sum(idle_ns) GROUP BY run_id",
    "SELECT 'COPY_TO_FILE', 'INSERT_QUERY_NODE' -- only text",
    "SELECT comment FROM duckdb_columns() WHERE table_name = 'kernels'",
    "FROM device_occupancy('run', 0, 0, 0, 1000, 10)",
]


def test_reading_is_allowed(sandbox):
    assert [query for query in READING if not sandbox.query(query).complete] == []


REFUSED = [
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
    ("COPY runs FROM '/etc/passwd'", "COPY"),
    ("MERGE INTO runs USING (SELECT 1) ON false WHEN NOT MATCHED THEN INSERT", "MERGE"),
    ("TRUNCATE runs", "TRUNCATE"),
    ("CREATE OR REPLACE VIEW runs AS SELECT 1", "CREATE"),
    ("CREATE SECRET (TYPE s3)", "CREATE"),
    ("IMPORT DATABASE '{store}'", "IMPORT"),
    ("FROM read_csv('/etc/passwd')", "read_csv"),
    ("FROM sniff_csv('/etc/passwd')", "sniff_csv"),
    ("FROM parquet_metadata('{store}/runs/*/runs.parquet')", "parquet_metadata"),
    ("FROM pandas_scan(1)", "pandas_scan"),
    ("FROM query_table('/etc/passwd')", "does not exist"),
    ("DESCRIBE TABLE '/etc/passwd'", "does not exist"),
    ("SUMMARIZE '/etc/passwd'", "does not exist"),
    ("FROM sys", "does not exist"),
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
    ("RESET threads", "SET"),
    ("RESET GLOBAL allowed_directories", "SET"),
    ("SET VARIABLE x = 1", "SET"),
    ("CALL enable_logging()", "CALL"),
    ("PREPARE p AS SELECT 1", "PREPARE"),
    ("EXECUTE p", "EXECUTE"),
    ("USE memory", "USE"),
    ("DETACH memory", "DETACH"),
    ("CHECKPOINT", "CHECKPOINT"),
    ("BEGIN", "BEGIN"),
    ("CALL pragma_version()", "CALL"),
    ("UPDATE EXTENSIONS", "UPDATE"),
    ("/* sly */ VACUUM", "VACUUM"),
    ("SELECT 1; SELECT 2", "2 statements; run one at a time"),
    ("", "The query is empty"),
    ("-- nothing", "The query is empty"),
    ("PIVOT bubble_causes ON cause USING sum(idle_ns)", "PIVOT"),
    ("SELECT " + "[" * 900 + "]" * 900, "nested"),
    ("SELEC 1", "syntax error"),
    ("SELECT $1", "parameters"),
    ("SELECT '\ud800'", "half of a surrogate pair"),
    ("SELECT " + "-" * 5 + "(1+" * 5_000 + "1" + ")" * 5_000, "."),
    ("SELECT " + "(" * 100_000, "."),
]


def test_everything_else_is_refused_with_a_reason(sandbox, store):
    sandbox.query("SELECT 1")  # the first one writes the catalog
    before = files(store.parent)
    wrong = {}
    for query, message in REFUSED:
        try:
            reason = str(sandbox.query(query.replace("{store}", str(store))).table)
        except QueryError as error:
            reason = str(error)
            if re.search(message, reason) and files(store.parent) == before and answers(sandbox):
                continue
        wrong[query[:200]] = reason
    assert wrong == {}


def test_errors_quote_the_query_as_it_was_written(sandbox):
    with pytest.raises(QueryError, match="nowhere does not exist") as refused:
        sandbox.query("SELECT * FROM nowhere")
    assert "EXPLAIN" not in str(refused.value)


def test_a_variable_of_the_caller_is_not_a_table(sandbox):
    stolen = pa.table({"n": [1]})
    with pytest.raises(QueryError, match="stolen does not exist"):
        sandbox.query("FROM stolen")
    assert stolen.num_rows == 1


ASKING_FOR_SECRETS = [
    "SELECT getenv('CONSOLE_SECRET')",
    "SELECT current_setting('s3_secret_access_key')",
    "FROM duckdb_settings()",
    "FROM duckdb_secrets()",
    "FROM duckdb_variables()",
    "FROM read_text('/proc/self/environ')",
]


def test_secrets_stay_secret(store, monkeypatch):
    monkeypatch.setenv("CONSOLE_SECRET", "swordfish")
    sandbox = Sandbox(store)
    told = {}
    for query in ASKING_FOR_SECRETS:
        try:
            told[query] = str(sandbox.query(query).table)
        except QueryError as refused:
            if "swordfish" in str(refused):
                told[query] = str(refused)
    assert told == {}


def test_the_rows_of_a_result_are_limited(store):
    result = Sandbox(store, rows=5).query("SELECT range AS n FROM range(10) ORDER BY n DESC")
    assert result.table.column("n").to_pylist() == [9, 8, 7, 6, 5]
    assert not result.complete
    assert result.cut_at == "5 rows"
    assert Sandbox(store, rows=10).query("FROM range(10)").complete


def test_integers_stay_exact(sandbox):
    result = sandbox.query(
        "SELECT sum(n) AS s, NULL::BIGINT AS none FROM (SELECT 9007199254740993 n)"
    )
    assert result.frame()["s"].tolist() == [9007199254740993]
    assert result.csv().decode().splitlines()[1] == "9007199254740993,"


INTERVALS = {
    "INTERVAL 1 DAY": "1 day",
    "INTERVAL '14 months 3 days'": "1 year 2 months 3 days",
    "INTERVAL '25 hours 1.5 seconds'": "25:00:01.5",
    "INTERVAL '-3 days -1 second'": "-3 days -00:00:01",
    "INTERVAL '0 days'": "00:00:00",
    "[INTERVAL 1 MONTH]": '["1 month"]',
}


def test_intervals_are_written_as_text(sandbox):
    shown, downloaded = {}, {}
    for interval in INTERVALS:
        result = sandbox.query(f"SELECT {interval} AS i")
        [shown[interval]] = result.frame()["i"].tolist()
        [row] = csv.DictReader(io.StringIO(result.csv().decode()))
        downloaded[interval] = row["i"]
    assert shown == downloaded == INTERVALS


def test_results_of_every_type_can_be_downloaded(sandbox):
    result = sandbox.query(
        "SELECT 1 AS a, 2 AS a, map {'k': 'v'} AS m, [1, 2] AS l, {'x': 1} AS s,"
        " INTERVAL 1 DAY AS i, now() AS t, 'é,\"' AS q, '{}'::JSON AS j, uuid() AS u"
    )
    (row,) = csv.DictReader(io.StringIO(result.csv().decode()))
    assert (row["a"], row["a_1"], row["q"]) == ("1", "2", 'é,"')
    assert json.loads(row["m"]) == {"k": "v"}
    assert pq.read_table(io.BytesIO(result.parquet())).num_rows == 1


ODD_VALUES = [
    ("['infinity'::DATE]", '["infinity"]'),
    ("{'at': 'infinity'::TIMESTAMP}", '{"at":"infinity"}'),
    ("union_value(a := 'infinity'::DATE)", '{"a":"infinity"}'),
    ("'1010'::BIT", "1010"),
    ("'\\xFF'::BLOB", "\\xFF"),
    ("[INTERVAL 1 DAY]", '["1 day"]'),
    ("'infinity'::DATE", "infinity"),
    ("DATE '290000-01-01'", "290000-01-01"),
    ("TIME '24:00:00'", "24:00:00"),
    ("'12:00:01+02'::TIMETZ", "12:00:01+02"),
    ("170141183460469231731687303715884105727::HUGEINT", f"{2**127 - 1}"),
    ("340282366920938463463374607431768211455::UHUGEINT", f"{2**128 - 1}"),
    ("[1::UHUGEINT]", "[1]"),
    ("'nan'::DOUBLE", "nan"),
    ("TRUE", "true"),
    ("MAP {}", "{}"),
    ("[MAP {}]", "[{}]"),
    ("{'a': MAP {'b': MAP {}}}", '{"a":{"b":{}}}'),
]


def test_odd_values_can_be_converted_to_every_format(sandbox):
    found = {}
    for value, _ in ODD_VALUES:
        result = sandbox.query(f"SELECT {value} AS v UNION ALL SELECT NULL")
        written = [row["v"] for row in csv.DictReader(io.StringIO(result.csv().decode()))]
        rows = pq.read_table(io.BytesIO(result.parquet())).num_rows
        found[value] = (len(result.frame()), written, rows)
    assert found == {value: (2, [text, ""], 2) for value, text in ODD_VALUES}


def test_threads_share_a_console_and_get_their_own_answers(store):
    sandbox = Sandbox(store, seconds=PATIENCE, processes=3)

    def ask(number: int) -> bool:
        query = f"SELECT {number} AS n, repeat('{number % 10}', 100) AS t FROM range({number})"
        table = sandbox.query(query).table
        assert set(table.column("n").to_pylist()) == {number}
        assert set(table.column("t").to_pylist()) == {str(number % 10) * 100}
        return table.num_rows == number

    with ThreadPoolExecutor(12) as threads:
        assert all(threads.map(ask, range(1, 200)))


@pytest.mark.parametrize("running", [False, True], ids=["idle", "in a query"])
def test_the_processes_end_with_their_parent(store, running):
    program = f"""
import sys, threading
from ingest.sandbox import Sandbox
sandbox = Sandbox({str(store)!r}, seconds=100_000)
sandbox.query("SELECT 1")
if {running}:
    threading.Thread(target=sandbox.query, args=({ENDLESS!r},), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert parent.stdout
    assert parent.stdout.readline() == b"ready\n"
    parent.kill()
    parent.communicate(timeout=PATIENCE)  # stderr closes when both the parent and the child end


def test_a_missing_store_is_an_error(tmp_path):
    store = ingest.Store(tmp_path / "store")
    sandbox = Sandbox(store.path)
    store.path.rename(tmp_path / "elsewhere")
    with pytest.raises(QueryError, match="store cannot be read"):
        sandbox.query("SELECT 1")
    (tmp_path / "elsewhere").rename(store.path)
    assert answers(sandbox)

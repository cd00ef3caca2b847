"""What a query reads and when it is empty, derived from its text and compared with DuckDB."""

from collections.abc import Iterator

import duckdb
import pytest

from ingest.sql.dependencies import Condition, Reader
from ingest.sql.loader import SqlFile
from tests.helpers.cases import check_each

DDL = ("CREATE TABLE t (a INTEGER, b INTEGER)", "CREATE TABLE u (a INTEGER)")
MACROS = (
    "CREATE MACRO total(x) AS sum(x)",
    "CREATE MACRO pairs(one, two) AS TABLE SELECT * FROM query_table(one) "
    "CROSS JOIN query_table(two)",
)
EMPTY_WITHOUT_T = (
    "SELECT a FROM t",
    "SELECT a, sum(b) FROM t GROUP BY a",
    "SELECT a, sum(b) FROM t GROUP BY ALL",
    "SELECT a, row_number() OVER (ORDER BY b) FROM t",
    "SELECT u.a FROM u INNER JOIN t ON u.a = t.a",
    "SELECT t.a FROM t LEFT JOIN u ON u.a = t.a",
    "SELECT a FROM u WHERE a IN (SELECT a FROM t)",
    "SELECT a FROM u WHERE EXISTS (FROM t) AND a > 0",
    "WITH c AS (SELECT a FROM t) SELECT a FROM c UNION ALL SELECT b FROM t",
    "SELECT a FROM u INTERSECT SELECT a FROM t",
    "SELECT * FROM pairs('u', 't')",
    "SELECT * FROM pairs(two := 't', one := 'u')",
)
NOT_EMPTY_WITHOUT_T = (
    "SELECT count(*) FROM t",
    "SELECT 1 FROM t HAVING count(*) = 0",
    "SELECT 1 FROM t ORDER BY count(*)",
    "SELECT sum(a) FROM t GROUP BY ALL",
    "SELECT 1, sum(a) FROM t GROUP BY ALL",
    "SELECT a, sum(b) FROM t GROUP BY ROLLUP (a)",
    "SELECT sum(count(*)) OVER () FROM t",
    "SELECT total(a) FROM t",
    "SELECT geomean(a) FROM t",
    "SELECT u.a FROM u POSITIONAL JOIN t",
    "SELECT u.a FROM u FULL JOIN t ON u.a = t.a",
    "SELECT a FROM u WHERE EXISTS (SELECT count(*) FROM t)",
    "SELECT a FROM u WHERE NOT EXISTS (FROM t)",
    "SELECT a FROM u EXCEPT SELECT a FROM t",
    "SELECT a FROM t UNION ALL SELECT a FROM u",
    "WITH t AS (SELECT a FROM u) SELECT a FROM t",
    "VALUES (1)",
)


def sql_file(name: str, body: str, kind: str = "intermediate") -> SqlFile:
    """Return a file without a header."""
    return SqlFile(name, "events", kind, body, "", *[None] * 5, {})


def reader(connection: duckdb.DuckDBPyConnection, query: str) -> Reader:
    """Return a reader that knows two tables, two macros and `query` as the object `q`."""
    names = ("t", "u", "total", "pairs", "q")
    bodies = zip(names, (*DDL, *MACROS, query), strict=True)
    return Reader(connection, {name: sql_file(name, body) for name, body in bodies})


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the tables and the macros. Only table `u` has a row."""
    with duckdb.connect() as opened:
        for statement in (*DDL, *MACROS):
            opened.execute(statement)
        opened.execute("INSERT INTO u VALUES (1)")
        yield opened


def test_queries_are_empty_exactly_if_predicted(connection: duckdb.DuckDBPyConnection) -> None:
    def check(query: str) -> None:
        condition = reader(connection, query).empty_if("q")
        needs_t = condition == "t" or (isinstance(condition, list) and condition[0] == "any")
        assert needs_t == (query in EMPTY_WITHOUT_T)
        assert (connection.execute(query).fetchall() == []) == needs_t

    check_each([*EMPTY_WITHOUT_T, *NOT_EMPTY_WITHOUT_T], check)


def test_the_relations_that_a_query_reads(connection: duckdb.DuckDBPyConnection) -> None:
    expected = {
        "SELECT total(a) FROM t": {"total", "t"},
        "SELECT * FROM pairs(two := 't', one := 'u')": {"pairs", "t", "u"},
        "WITH t AS (FROM t) FROM t": {"t"},  # the CTE reads the table with its name
        "WITH c AS (FROM u), d AS (FROM c) FROM d": {"u"},
        # A CTE cannot read a later one.
        "WITH c AS (FROM d), d AS (FROM u) FROM c": {"d", "u"},
        "WITH RECURSIVE c AS (SELECT a FROM t UNION ALL SELECT a FROM c) FROM c": {"t"},
    }
    assert {query: reader(connection, query).reads("q") for query in expected} == expected


# A staged table with one row, and views that pass its columns on.
STAGED = "CREATE TABLE s (a VARCHAR, n INTEGER)"
PASSED_ON = {
    "same": "SELECT s.a, s.n FROM s INNER JOIN (SELECT 1 AS n) AS one USING (n)",
    "renamed": "SELECT s.a AS b FROM s",
    "changed": "SELECT coalesce(s.a, 'x') AS a FROM s",
    "swapped": "SELECT s.n::VARCHAR AS a, s.a AS other FROM s",
}
WITHOUT_X = ["without", "s", "a", "x"]
CONDITIONS: dict[str, Condition] = {
    "SELECT 1 FROM s WHERE a = 'x'": ["any", "s", WITHOUT_X],
    "SELECT 1 FROM s WHERE s.a IN ('x', 'y') AND n > 0": ["any", "s", [*WITHOUT_X, "y"]],
    "SELECT 1 FROM s AS z WHERE z.a = 'x'": ["any", "s", WITHOUT_X],
    "SELECT 1 FROM renamed WHERE b = 'x'": ["any", "renamed", WITHOUT_X],
    "SELECT 1 FROM s LEFT JOIN renamed ON s.a = b WHERE renamed.b = 'x'": ["any", "s", WITHOUT_X],
    "WITH c AS (SELECT * FROM s WHERE a = 'x') FROM c": ["any", "s", WITHOUT_X],
    # These cannot be known from the texts in the column.
    "SELECT 1 FROM s WHERE a = 'x' OR n > 0": "s",
    "SELECT 1 FROM s WHERE NOT a = 'x'": "s",
    "SELECT 1 FROM s WHERE a NOT IN ('x')": "s",
    "SELECT 1 FROM s WHERE lower(a) = 'x'": "s",
    "SELECT 1 FROM s WHERE n = '01'": "s",
    "SELECT 1 FROM changed WHERE a = 'x'": "changed",
    "SELECT 1 FROM swapped WHERE a = 'x'": "swapped",
    "SELECT 1 FROM s INNER JOIN renamed ON s.a = b WHERE a = 'x'": ["any", "s", "renamed"],
    "WITH s AS (SELECT 'x' AS a) SELECT 1 FROM s WHERE a = 'x'": False,
    "SELECT count(*) FROM s WHERE a = 'x'": False,
}


def test_a_filter_that_needs_a_text_is_a_condition() -> None:
    with duckdb.connect() as connection:
        connection.execute(STAGED)
        connection.execute("INSERT INTO s VALUES ('other', 1)")
        for name, body in PASSED_ON.items():
            connection.execute(f"CREATE VIEW {name} AS {body}")
        files = {"s": sql_file("s", STAGED, "staged")}
        files |= {name: sql_file(name, body) for name, body in PASSED_ON.items()}

        def check(query: str) -> None:
            found = Reader(connection, files | {"q": sql_file("q", query)}).empty_if("q")
            assert found == CONDITIONS[query]
            if isinstance(found, list) and isinstance(found[-1], list):
                assert connection.execute(query).fetchall() == []

        check_each(CONDITIONS, check)

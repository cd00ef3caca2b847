"""Page SQL, without a browser."""

import pytest

from dashboard.sql.page import EXAMPLES
from ingest import server
from tests.dashboard.elements import schema, table_columns, texts


def column(page, heading):
    """Return the texts that a column of the result shows."""
    return next(each["texts"] for each in table_columns(page) if each["heading"] == heading)


def test_the_sandbox_runs_reads_and_refuses_writes(app, shown_store):
    page = app(shown_store, "sql", sql="SELECT 6 * 7 AS answer")
    assert column(page, "answer") == ["42"]
    refused = app(shown_store, "sql", sql="DROP VIEW runs")
    assert "DROP is not allowed" in texts(refused).replace("\\", "")


def test_a_query_runs_again_only_if_the_user_runs_it(app, shown_store):
    page = app(shown_store, "sql", sql="SELECT random() AS r")
    first = column(page, "r")
    page.selectbox(key="example").run()
    assert column(page, "r") == first
    page.button[0].click().run()
    assert column(page, "r") != first


def test_long_results_are_shown_in_part(app, shown_store):
    query = "SELECT repeat('x', 20000) AS wide, range(1000) AS list FROM range(3000)"
    page = app(shown_store, "sql", sql=query)
    for heading in ("wide", "list"):
        shown = column(page, heading)
        assert (len(shown), max(map(len, shown))) == (1_000, 1_001)
    assert "the result was cut at 64 MiB" in texts(page)
    columns = ", ".join(f"range AS c{number}" for number in range(300))
    page = app(shown_store, "sql", sql=f"SELECT {columns} FROM range(3)")
    assert len(table_columns(page)) == 200
    assert "the first 200 columns are shown" in texts(page)


def test_integers_are_exact_and_floats_have_six_digits(app, shown_store):
    query = """
        SELECT 9007199254740993 AS big, 25243922 AS span_ns, x AS small, y AS huge,
            1234567.875::DOUBLE AS f, 0.123456789::DOUBLE AS g
        FROM (VALUES (5::INTEGER, 18446744073709551615::UBIGINT), (NULL, NULL)) AS t (x, y)
    """
    page = app(shown_store, "sql", sql=query)
    shown = {each["heading"]: each["texts"][0] for each in table_columns(page)}
    assert shown == {
        "big": "9007199254740993",
        "span_ns": "25243922",
        "small": "5",
        "huge": "18446744073709551615",
        "f": "1234568.0",
        "g": "0.123457",
    }
    assert all(each["isNumber"] for each in table_columns(page))


def test_values_are_shown_in_full(app, shown_store):
    query = """
        SELECT 1.50::DECIMAL(9, 2) AS price, INTERVAL 3 DAY AS wait, NULL::DOUBLE AS none,
            TIMESTAMP '2026-01-01 01:02:03.123456' AS moment, true AS truth, 'a' AS x, 'b' AS x
    """
    columns = table_columns(app(shown_store, "sql", sql=query))
    assert [(each["heading"], *each["texts"]) for each in columns] == [
        ("price", "1.50"),
        ("wait", "3 days"),
        ("none", "–"),
        ("moment", "2026-01-01 01:02:03.123456"),
        ("truth", "true"),
        ("x", "a"),
        ("x_1", "b"),
    ]


def test_the_schema_lists_starts_then_tables_then_views(app, shown_store):
    groups = schema(app(shown_store, "sql"))
    starts = server.start_here()
    assert {each["name"]: each["question"] for each in groups["Start here"]} == starts
    tables = [table.name for table in server.tables() if table.name not in starts]
    assert [each["name"] for each in groups["Tables"]] == sorted(tables)
    views = {each["name"]: each for each in groups["Views"]}
    columns = {each["name"]: each for each in views["leaf_op_ranking"]["columns"]}
    assert columns["device_ns"]["type"] == "bigint"
    assert all(each["comment"] for each in columns.values())
    calls = {each["name"]: each["call"] for each in groups["Table macros"]}
    assert calls["kernel_diff"] == "kernel_diff(base, other, rank, nth_step)"


@pytest.mark.parametrize("query", EXAMPLES.values(), ids=EXAMPLES)
def test_every_example_returns_rows(shown_store, query):
    assert server.Sandbox(shown_store).query(query).table.num_rows > 0

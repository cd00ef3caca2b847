"""Page SQL, without a browser."""

import pytest

import ingest
from dashboard.sql.page import EXAMPLES
from tests.dashboard.elements import texts


def test_the_console_answers_and_refuses(app, shown_store):
    page = app(shown_store, "sql", sql="SELECT 6 * 7 AS answer")
    assert page.dataframe[0].value["answer"].tolist() == [42]
    refused = app(shown_store, "sql", sql="DROP VIEW runs")
    assert "DROP is not allowed" in texts(refused).replace("\\", "")


def test_a_query_runs_once_until_it_is_asked_again(app, shown_store):
    page = app(shown_store, "sql", sql="SELECT random() AS r")
    first = page.dataframe[0].value["r"].tolist()
    page.text_input(key="schema").set_value("kernel").run()
    assert page.dataframe[0].value["r"].tolist() == first
    page.button[0].click().run()
    assert page.dataframe[0].value["r"].tolist() != first


def test_long_results_are_shown_in_part(app, shown_store):
    query = "SELECT repeat('x', 20000) AS wide, range(1000) AS list FROM range(3000)"
    page = app(shown_store, "sql", sql=query)
    shown = page.dataframe[0].value
    assert len(shown) == 1_000
    assert shown["wide"].str.len().max() == 1_001
    assert shown["list"].str.len().max() == 1_001
    assert "a result ends at 64 MiB" in texts(page)
    columns = ", ".join(f"range AS c{number}" for number in range(300))
    page = app(shown_store, "sql", sql=f"SELECT {columns} FROM range(3)")
    assert page.dataframe[0].value.shape == (3, 200)
    assert "the first 200 columns are shown" in texts(page)


def test_integers_that_a_browser_would_round_are_text(app, shown_store):
    page = app(shown_store, "sql", sql="SELECT 9007199254740993 AS big, 5 AS small")
    assert page.dataframe[0].value["big"].tolist() == ["9007199254740993"]
    assert page.dataframe[0].value["small"].tolist() == [5]


def test_values_are_shown_whole(app, shown_store):
    query = """
        SELECT 1.50::DECIMAL(9, 2) AS price, INTERVAL 3 DAY AS wait, NULL::DOUBLE AS none,
            TIMESTAMP '2026-01-01 01:02:03.123456' AS moment
    """
    (row,) = app(shown_store, "sql", sql=query).dataframe[0].value.to_dict("records")
    assert (row["price"], row["wait"]) == ("1.50", "3 days")
    assert row["moment"] == "2026-01-01 01:02:03.123456"


def test_the_schema_lists_starts_then_tables_then_views_and_says_when_nothing_fits(
    app, shown_store
):
    page = app(shown_store, "sql")
    listed = [entry.label for entry in page.expander]
    starts = list(ingest.start_here())
    stored = sorted(path.stem for path in next(shown_store.glob("runs/*")).glob("*.parquet"))
    tables = [name for name in stored if name not in starts]
    assert listed[: len(starts)] == starts
    question = ingest.start_here()["op_ranking"]
    assert question not in texts(page)
    page.session_state["schema_op_ranking"] = True
    assert question in texts(page.run())
    assert listed[len(starts) : len(starts) + len(tables)] == tables
    assert "leaf_op_ranking" in listed[len(starts) + len(tables) :]
    page.text_input(key="schema").set_value("no such word").run()
    assert not page.expander
    assert "clear the search" in texts(page)


@pytest.mark.parametrize("query", EXAMPLES.values(), ids=EXAMPLES)
def test_every_example_has_an_answer(shown_store, query):
    assert ingest.Console(shown_store).query(query).table.num_rows > 0

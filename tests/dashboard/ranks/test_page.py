"""Page Ranks, without a browser."""

import pytest

import ingest
from dashboard.drawing import colours
from tests.dashboard.elements import charts, table_columns, table_with, tables, texts


@pytest.fixture
def page_of(opened, ranks_store, ranks_run):
    """Return the page of a run."""
    return lambda name, **query: opened(ranks_store, "ranks", run=ranks_run[name], **query)


@pytest.fixture
def rows_of(ranks_store, ranks_run):
    """Return the rows of a query about a run, `$1`."""

    def rows(query, name):
        with ingest.connect(ranks_store) as connection:
            return connection.execute(query, [ranks_run[name]]).fetchall()

    return rows


def metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def chart_with(page, column):
    return next(chart for chart in charts(page) if column in chart)


def test_the_straggler_is_named_with_its_share_and_its_cost(page_of):
    page = page_of("late")
    assert "**Rank 2 is the straggler.** It comes last in 100.0% of its 16 collectives" in texts(
        page
    )
    shown = metrics(page)
    assert (shown["Ranks"], shown["Matched calls"], shown["Comes last"]) == ("4", "64", "100.0%")
    assert (shown["Later than the next"], shown["Costs per step"]) == ("780 µs", "1.56 ms")


def test_what_the_straggler_does_longer_is_beside_the_other_ranks(page_of):
    page = page_of("late")
    shown = table_with(page, "excess_ns")
    assert {("part", "compute"), ("kernel", "gemm")} <= set(
        zip(shown["level"], shown["name"], strict=True)
    )
    assert set(shown["step_calls"]) == {"–", "2"}


def test_the_critical_path_crosses_ranks(page_of):
    page = page_of("awaited")
    assert (
        "The critical path of the median step crosses ranks: 98.2% on rank 1, 1.8% on rank 0."
        in texts(page)
    )
    shown = table_with(page, "waited_in")
    assert shown["rank"].tolist() == [1, 0]
    assert shown["waited_in"].dropna().tolist() == ["all_reduce"]
    assert shown["percent"].sum() == pytest.approx(100)


def test_the_critical_path_is_on_one_rank_if_no_call_on_it_waited(page_of):
    page = page_of("late")
    assert "is on rank 0 alone: no call on it waited for another rank." in texts(page)
    assert "waited_in" not in {name for table in tables(page) for name in table}


def test_ranks_that_cannot_be_compared_have_no_common_path(page_of):
    for name in ("unmatched", "alone"):
        assert "The critical path of the median step" not in texts(page_of(name))


def test_ranks_that_are_late_in_turn_are_not_named(page_of):
    page = page_of("even")
    assert "**No rank is a straggler.**" in texts(page)
    assert "it comes last in 50.0% of its 16 collectives" in texts(page)
    assert "which may be chance." in texts(page)
    assert "Comes last" not in metrics(page)


def test_the_reason_is_given_if_no_collective_is_matched(page_of):
    page = page_of("unmatched")
    assert "The straggler is unknown: no collective is matched across ranks." in texts(page)
    assert "Unmatched: 32 calls, because their process group is unknown." in texts(page)
    assert "Lateness is unknown" in texts(page)
    assert "Bandwidths are unknown" in texts(page)
    parts = set(chart_with(page, "part")["part"])
    assert "unmatched collectives" in parts
    assert not parts & {"lateness", "waiting", "transfer"}


def test_a_run_of_one_rank_says_so(page_of):
    page = page_of("alone")
    assert "The run has files of one rank" in texts(page)
    assert charts(page) == []
    assert len(table_with(page, "compute_ns")) == 1


def test_missing_ranks_are_named_and_make_waits_bounds(page_of):
    page = page_of("bound")
    assert "**Rank 2 is the straggler.**" in texts(page)
    assert "1 rank without a file: 3. Waits are lower bounds" in texts(page)
    assert metrics(page)["Ranks"] == "3 of 4"
    assert table_with(page, "missing_ranks")["missing_ranks"].tolist() == ["3"]


def test_corrections_of_clocks_have_their_uncertainty(page_of):
    page = page_of("late")
    assert metrics(page)["Clocks corrected by"].startswith("120 µs ± ")
    assert "Times are corrected by up to 120 µs ± " in texts(page)
    assert table_with(page, "offset_ns")["offset_ns"].tolist() == [0, 0, 120_000, 120_000]


def test_the_matrix_shows_what_the_straggler_does_differently(page_of, rows_of):
    matrix = chart_with(page_of("late"), "part").set_index(["row", "part"])
    assert matrix.index[0][0] == "rank 2 *"
    assert matrix.loc[("rank 2 *", "compute"), "colour"] == colours.MORE
    assert matrix.loc[("rank 2 *", "waiting"), "colour"] == colours.LESS
    assert matrix.loc[("rank 2 *", "transfer"), "colour"] == colours.NO_BOXES[0]
    [(waiting_ns,)] = rows_of(
        "SELECT avg(waiting_ns)::BIGINT FROM rank_summary WHERE run_id = $1 AND rank = 1", "late"
    )
    assert matrix.loc[("rank 1", "waiting"), "time"] == f"{waiting_ns / 1e6:.2f} ms"


def test_rows_can_be_in_the_order_of_hosts(page_of):
    matrix = chart_with(page_of("late", order="host"), "part")
    names = ["node0 · rank 0", "node0 · rank 1", "node1 · rank 2 *", "node1 · rank 3"]
    assert set(matrix["row"]) == set(names)


def test_the_table_has_the_latest_rank_first_and_follows_the_step(page_of, rows_of):
    for query, where in (({}, ""), ({"step": "3"}, "AND step = 3")):
        table = table_with(page_of("late", **query), "last_percent")
        found = table[["rank", "lateness_ns", "compute_ns", "waiting_ns"]].values.tolist()
        expected = rows_of(
            "SELECT rank, avg(lateness_ns)::BIGINT, avg(compute_ns)::BIGINT, "
            "avg(waiting_ns)::BIGINT FROM rank_summary "
            f"WHERE run_id = $1 {where} GROUP BY rank ORDER BY 2 DESC, 1",
            "late",
        )
        assert found == list(map(list, expected))
    assert "This is about the whole recording." in texts(page_of("late", step="3"))


def test_lateness_is_drawn_for_each_step(page_of, rows_of):
    lines = chart_with(page_of("late"), "line")
    straggler = lines[lines["line"] == "rank 2, the straggler"]
    assert straggler["step"].tolist() == list(range(8))
    assert straggler["value"].tolist() == lines[lines["line"] == "latest rank"]["value"].tolist()
    assert straggler["value"].min() > lines[lines["line"] == "median rank"]["value"].max()


def test_bandwidth_is_drawn_by_size(page_of, rows_of):
    points = chart_with(page_of("late"), "bus")
    expected = rows_of(
        "SELECT kind, bytes, bus_gb_per_s FROM collective_summary WHERE run_id = $1", "late"
    )
    assert list(points[["kind", "x", "y"]].itertuples(index=False, name=None)) == expected
    table = table_with(page_of("late"), "max_skew_ns")
    assert table["bytes"].tolist() == [bytes for _, bytes, _ in expected]


def test_headings_explain_their_columns(page_of):
    for number in range(len(tables(page_of("late")))):
        columns = table_columns(page_of("late"), number)
        assert all(column["help"] for column in columns), columns


@pytest.mark.parametrize(
    ("name", "named"), [("late", "rank 2, the straggler"), ("even", ", the median rank")]
)
def test_other_pages_say_which_rank_they_show(opened, ranks_store, ranks_run, name, named):
    page = opened(ranks_store, "overview", run=ranks_run[name])
    assert named in texts(page)

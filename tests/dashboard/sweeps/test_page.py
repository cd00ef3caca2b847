"""Page Sweeps: the table, the chart, and the clicked variant."""

import pytest
from playwright.sync_api import Page, expect

import ingest
from dashboard.drawing import formatting
from tests.builders.sweeps import FAILURE, REASON, TAG, TIMES, described, sweep_store, write_run
from tests.dashboard.browser import assert_fits, wait_for_query, wait_until_drawn
from tests.dashboard.elements import charts, table_with, texts


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    return sweep_store(tmp_path_factory.mktemp("sweeps"))


@pytest.fixture(scope="module")
def rows(swept):
    with ingest.connect(swept) as connection:
        return {row["variant"]: row for row in ingest.sweep_rows(connection, TAG)}


def test_the_table_has_all_variants(opened, swept, rows):
    page = opened(swept, "sweeps")
    assert not page.exception
    table = table_with(page, "image_ns").set_index("variant")
    assert list(table.index) == list(rows)
    assert table.loc["default 64", "image_ns"] == rows["default 64"]["image_ns"]
    assert table.loc["default 64", "speed"] == "2.02×"
    assert table.loc["eager 64", "psnr"] == "equal"
    assert table.loc["failing 64", "failure"] == FAILURE


def test_the_fastest_variant_shows_the_difference_of_its_output(opened, swept):
    page = opened(swept, "sweeps")
    found = {metric.label: (metric.value, metric.delta) for metric in page.metric}
    assert found["Variants"][0] == "5"
    assert found["Failed"][0] == "1"
    assert found["Fastest: wrong 64"] == ("10.00×", "mean difference from eager 0.25; p 0.333")


def test_points_are_coloured_by_their_difference(opened, swept):
    page = opened(swept, "sweeps")
    points = charts(page)[0].set_index("variant")
    assert set(points.index) == set(TIMES)  # the failed variant has no time
    assert points["colour"].nunique() == len(TIMES)  # equal, near, far, unknown
    assert points.loc["wrong 64", "distance"] == "mean difference from eager 0.25"
    assert "Not shown: 1 variant without a time or a peak." in texts(page)


def test_a_clicked_variant_shows_reasons_and_links(app, swept, rows):
    slow = rows["slow 64"]["run_id"]
    page_text = texts(app(swept, "sweeps", at=slow))
    assert "Time per image in each process: 100 ms, 100 ms." in page_text
    assert "cannot be compared with eager: shape (1, 8) instead of (1, 4)" in page_text
    assert f"Compiled again: {formatting.literal(REASON)}" in page_text


def test_eager_is_the_fastest_if_no_variant_is_faster(app, tmp_path):
    store = ingest.Store(tmp_path / "store")
    for variant in ("eager 64", "slow 64"):
        store.add(write_run(tmp_path, variant, described(variant), error="none"))
    page = app(store.path, "sweeps")
    found = {metric.label: (metric.value, metric.delta) for metric in page.metric}
    assert found["Fastest"] == ("eager", "no other variant is faster")


@pytest.mark.parametrize("page", ["overview", "operators", "advice"])
def test_pages_of_a_failed_variant_show_the_reason(app, swept, rows, page):
    shown = app(swept, page, run=rows["failing 64"]["run_id"])
    assert not shown.exception
    (error,) = shown.error
    assert error.value.endswith(f"anything was recorded: {formatting.literal(FAILURE)}")


def test_a_store_without_a_sweep_shows_how_to_record_one(app, shown_store):
    page = app(shown_store, "sweeps")
    assert "This store has no sweep. This command records one:" in [
        info.value for info in page.info
    ]
    assert "capture sweep flux" in page.code[0].value


def test_in_a_browser_a_click_opens_a_variant(tab: Page, serve, swept, rows):
    tab.goto(f"{serve(swept)}/sweeps")
    wait_until_drawn(tab)
    # An element above the points receives the click and picks the nearest point.
    tab.get_by_text("wrong 64", exact=True).last.click(force=True)
    expect(tab.get_by_text("Compare with eager 64")).to_be_visible()
    wait_for_query(tab, "at", rows["wrong 64"]["run_id"])
    assert_fits(tab)
    tab.get_by_text("Compare with eager 64").click()
    wait_until_drawn(tab)
    expect(tab.get_by_role("heading", name="Compare", exact=True)).to_be_visible()

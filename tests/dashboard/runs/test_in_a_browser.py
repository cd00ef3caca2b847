"""What a person sees and does on page Runs, in Chromium."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.dashboard.browser import query_of, search_box, table, tick, wait_for_query


def test_a_tick_picks_a_run_and_the_pages_keep_it(tab, address):
    tab.goto(f"{address}/")
    expect(tab.get_by_role("heading", name="Runs")).to_be_visible()
    assert urlsplit(tab.url).path == "/runs"
    tick(tab, 0)
    wait_for_query(tab, "run")
    run = query_of(tab)["run"]
    expect(tab.get_by_test_id("stMetric").first).to_be_visible()

    for page in ("Operators", "Bubbles", "SQL", "Runs"):
        tab.get_by_test_id("stSidebarNavLink").filter(has_text=page).click()
        expect(tab.get_by_role("heading", name=page, exact=True)).to_be_visible()
        assert query_of(tab)["run"] == run


def test_runs_are_searched_and_the_link_reopens_the_search(tab, address):
    tab.goto(f"{address}/runs")
    search = search_box(tab)
    search.fill("resnet")
    search.press("Enter")
    wait_for_query(tab, "find", "resnet")
    expect(table(tab).locator("tbody tr")).to_have_count(2)
    tab.goto(tab.url)
    expect(search_box(tab)).to_have_value("resnet")
    expect(table(tab).locator("tbody tr")).to_have_count(2)

"""Page SQL in Chromium."""

import re

from playwright.sync_api import expect

from tests.dashboard.browser import cell, wait_until_drawn, wait_until_sent


def test_the_console_refuses_writes_and_then_still_works(tab, address, shown_store):
    tab.goto(f"{address}/sql")
    query = tab.get_by_label("Query")
    wait_until_sent(tab)
    stolen = shown_store / "stolen.csv"
    for attack, word in (
        ("DROP VIEW runs", "DROP is not allowed"),
        (f"WITH x AS (COPY runs TO '{stolen}') SELECT 1", "COPY is not allowed"),
        ("FROM read_csv('/etc/passwd')", "read_csv is not allowed"),
        ("INSTALL httpfs", "INSTALL is not allowed"),
    ):
        query.fill(attack)
        query.press("Control+Enter")
        expect(tab.get_by_role("alert")).to_contain_text(word)
        wait_until_sent(tab)
    query.fill("SELECT 6 * 7 AS answer")
    query.press("Control+Enter")
    expect(cell(tab, "42")).to_be_attached()
    assert not stolen.exists()


def test_a_result_of_thousands_of_rows_is_drawn_quickly(tab, address):
    columns = ", ".join(f"range - {place} AS column_{place}" for place in range(10))
    tab.goto(f"{address}/sql?sql=SELECT {columns} FROM range(25243922, 25253922)")
    last = cell(tab, "25243913").first
    expect(last).to_be_visible()
    wait_until_drawn(tab)
    assert last.evaluate("cell => cell.scrollWidth <= cell.clientWidth")  # the text is not cut
    expect(tab.get_by_text("10,000 rows")).to_be_visible()
    rows = tab.locator(".grid tbody tr")
    assert rows.count() < 300
    tab.locator(".grid-box").evaluate("box => { box.scrollTop = box.scrollHeight; }")
    expect(cell(tab, "25244921").first).to_be_visible()  # the last of the 1,000 that are shown
    expect(rows).to_have_count(1_000)


def test_an_example_is_put_into_the_editor_and_the_schema_browser_explains_columns(tab, address):
    tab.goto(f"{address}/sql")
    wait_until_sent(tab)
    tab.get_by_test_id("stSelectbox").locator("input").click()
    tab.get_by_role("option", name="Launches that the device waited for").click()
    expect(tab.get_by_label("Query")).to_have_value(re.compile("cause = 'host'"))
    expect(tab.get_by_text(re.compile(r"20 rows in"))).to_be_visible()

    wait_until_sent(tab)
    search, entries = tab.get_by_label("Search the schema"), tab.locator(".schema details")
    expect(entries.filter(visible=True).first).to_be_visible()
    search.fill("launch_id")
    expect(entries.filter(has_text=re.compile("^steps$"))).to_be_hidden()
    entries.filter(has_text=re.compile("^kernels$")).locator("summary").click()
    expect(tab.get_by_text("the launching call").first).to_be_visible()
    search.fill("xylophone")
    expect(tab.get_by_text("clear the search")).to_be_visible()
    expect(entries.filter(visible=True)).to_have_count(0)

"""Page Roofline in Chromium."""

from playwright.sync_api import expect

from tests.dashboard.browser import (
    point_until,
    query_of,
    table,
    wait_for_query,
    wait_until_sent,
)


def test_a_click_on_a_point_shows_its_calls_and_a_click_on_a_call_its_time(tab, address, run_of):
    run = run_of("h100_owlv2")
    tab.goto(f"{address}/roofline?run={run}")
    chart = tab.get_by_test_id("stVegaLiteChart").first
    places = [(x / 100, y / 100) for y in range(24, 44, 3) for x in range(34, 52, 2)]
    at = point_until(tab, chart, places, "aten::_softmax")
    tab.mouse.click(*at)
    wait_for_query(tab, "at")
    assert query_of(tab)["at"][0].startswith("aten::_softmax")
    expect(tab.locator(".grid tr[aria-selected=true]")).to_have_count(1)
    expect(tab.get_by_role("heading", name="aten::_softmax")).to_be_visible()

    wait_until_sent(tab)
    table(tab, 1).locator("tbody tr").first.click()
    expect(tab.get_by_role("heading", name="Timeline", exact=True)).to_be_visible()
    wait_until_sent(tab)
    assert query_of(tab)["run"] == [run]

"""Page Streams in Chromium."""

from playwright.sync_api import expect

from tests.dashboard.browser import query_of, wait_until_drawn, wait_until_sent

WORKERS = "v100_resnet50_workers4"


def test_queues_show_their_length_on_hover(tab, address, run_of):
    tab.goto(f"{address}/streams?run={run_of(WORKERS)}&step=6")
    wait_until_drawn(tab)
    tab.locator(".lanes .plot").hover(position={"x": 300, "y": 75})  # the first queue
    expect(tab.locator(".hint")).to_contain_text("stream 7: up to")
    expect(tab.get_by_role("heading", name="Launch delays")).to_be_visible()
    expect(tab.get_by_test_id("stVegaLiteChart")).to_have_count(1)


def test_a_long_delay_opens_its_launch_in_the_timeline(tab, address, run_of):
    tab.goto(f"{address}/streams?run={run_of(WORKERS)}&step=6")
    expect(tab.get_by_role("heading", name="Longest delays")).to_be_visible()
    wait_until_sent(tab)
    rows = tab.locator(".grid").last.locator("tbody tr")
    rows.first.scroll_into_view_if_needed()
    rows.first.click()
    tab.wait_for_url("**/timeline?*")
    assert "event" in query_of(tab)

"""Page Streams in Chromium."""

from playwright.sync_api import expect

from tests.dashboard.browser import (
    point_until,
    wait_for_query,
    wait_until_drawn,
    wait_until_sent,
    without_perfetto,
)

WORKERS = "v100_resnet50_workers4"


def test_queues_show_their_length_on_hover_and_a_long_delay_opens_its_launch_in_the_timeline(
    tab, address, run_of
):
    without_perfetto(tab)
    tab.goto(f"{address}/streams?run={run_of(WORKERS)}&step=6")
    plot = tab.locator(".lanes .plot")
    expect(plot).to_be_visible()
    wait_until_drawn(tab)
    box = plot.bounding_box()
    first_queue = (300 / box["width"], 75 / box["height"])
    point_until(tab, plot, [first_queue], "stream 7: up to")
    expect(tab.get_by_role("heading", name="Launch delays")).to_be_visible()
    expect(tab.get_by_test_id("stVegaLiteChart")).to_have_count(1)

    expect(tab.get_by_role("heading", name="Longest delays")).to_be_visible()
    wait_until_sent(tab)
    rows = tab.locator(".grid").last.locator("tbody tr")
    rows.first.scroll_into_view_if_needed()
    rows.first.click()
    tab.wait_for_url("**/timeline?*")
    wait_for_query(tab, "event")
